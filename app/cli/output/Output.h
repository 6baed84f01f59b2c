// Where words go: results to stdout, one sentence of trouble to stderr, and what a terminal can show.
// Called on the main thread; printError() from any.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/Utf8.h"

namespace stepscope::cli {

void print(std::string_view text);             // stdout, as it is
void printError(const std::string& sentence);  // stderr, one line: "stepscope-cli: sentence"
std::string firstLine(std::string_view text);  // of a foreign message, without its stack trace

bool stderrIsTerminal();
std::size_t terminalColumns();                    // of stderr; 80 when unknown
std::size_t displayWidth(std::string_view utf8);  // code points: good for Latin text and the bar's blocks

}  // namespace stepscope::cli
