// Where words go: results to stdout, one sentence of trouble to stderr, and what a terminal can show.
// stderr is the stream that the program was started with; descriptor 2 belongs to libraries (app/workbench/process). Called on the main thread;
// printError() and printStatus() from any.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/base/Utf8.h"

namespace stepscope::cli {

void print(std::string_view text);             // stdout, as it is
void printError(const std::string& sentence);  // stderr, one line: "stepscope-cli: sentence"
void printStatus(const std::string& text);     // stderr, as it is: a line that is written over on a terminal
bool endsWithJson();                           // whether the line that print() began last is an object or an array of JSON
std::string lastError();                       // the sentence that printError() told last; empty where it told none
std::string firstLine(std::string_view text);  // of a foreign message, without its stack trace

// What the engine refuses, as the command line says it: what nobody has agreed to yet, with the option that agrees.
std::string refusalWords(const std::string& why, const Subject& about);

bool stdoutIsTerminal();
bool stderrIsTerminal();
std::size_t terminalColumns();                    // of stderr; 80 when unknown
std::size_t displayWidth(std::string_view utf8);  // code points: good for Latin text and the bar's blocks

}  // namespace stepscope::cli
