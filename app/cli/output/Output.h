// Where words go: results to stdout, one sentence of trouble to stderr, and what a terminal can show.
// Called on the main thread; printError() from any.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::cli {

void print(std::string_view text);             // stdout, as it is
void printError(const std::string& sentence);  // stderr, one line: "stepscope-cli: sentence"
std::string firstLine(std::string_view text);  // of a foreign message, without its stack trace

// Text from elsewhere (a name, a note, what a model wrote) as a terminal may show it: control characters, which could move its cursor or change
// its title, what turns the direction of writing, and bytes that are no UTF-8 become U+FFFD; so do line breaks unless they are kept.
std::string printable(std::string_view text, bool keepLines = false);

bool stderrIsTerminal();
std::size_t terminalColumns();                    // of stderr; 80 when unknown
std::size_t displayWidth(std::string_view utf8);  // code points: good for Latin text and the bar's blocks

}  // namespace stepscope::cli
