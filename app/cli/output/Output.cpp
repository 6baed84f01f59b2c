#include "app/cli/output/Output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "app/workbench/process/StandardError.h"

namespace stepscope::cli {
namespace {

// Of what went to stdout: which character its last line begins with, and whether that line has ended.
char lineBegins = '\0';
bool lineEnded = true;

std::mutex toldMutex;
std::string told;  // by printError(), last

}  // namespace

void print(std::string_view text) {
    for (const char c : text) {
        if (c != '\n' && lineEnded) lineBegins = c;
        lineEnded = c == '\n';
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
}

bool endsWithJson() {
    return lineBegins == '{' || lineBegins == '[';
}

std::string lastError() {
    const std::lock_guard lock(toldMutex);
    return told;
}

void printError(const std::string& sentence) {
    std::string line = sentence;
    std::ranges::replace(line, '\n', ' ');
    {
        const std::lock_guard lock(toldMutex);
        told = line;
    }
    line = "stepscope-cli: " + printable(line) + '\n';
    std::fflush(stdout);
    std::fwrite(line.data(), 1, line.size(), standard_error::own());
}

void printStatus(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), standard_error::own());
}

std::string firstLine(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    text = text.substr(0, text.find("Exception raised from"));  // c10 appends its trace to the same line at times
    return std::string(text);
}

// One thing alone is refused for want of a person's word: values of other arithmetic that would take turns in a run.
std::string refusalWords(const std::string& why, const Subject& about) {
    return about.kind == Subject::Kind::Loss ? why + " On the command line --measure-any agrees to that." : why;
}

bool stdoutIsTerminal() {
    return isatty(STDOUT_FILENO) == 1;
}

bool stderrIsTerminal() {
    return isatty(standard_error::descriptor()) == 1;
}

std::size_t terminalColumns() {
    winsize size{};
    if (ioctl(standard_error::descriptor(), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

std::size_t displayWidth(std::string_view utf8) {
    return static_cast<std::size_t>(std::ranges::count_if(utf8, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace stepscope::cli
