#include "app/cli/output/Output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace stepscope::cli {

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void printError(const std::string& sentence) {
    std::string line = sentence;
    std::ranges::replace(line, '\n', ' ');
    line = "stepscope-cli: " + printable(line) + '\n';
    std::fflush(stdout);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string firstLine(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    text = text.substr(0, text.find("Exception raised from"));  // c10 appends its trace to the same line at times
    return std::string(text);
}

bool stderrIsTerminal() {
    return isatty(STDERR_FILENO) == 1;
}

std::size_t terminalColumns() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

std::size_t displayWidth(std::string_view utf8) {
    return static_cast<std::size_t>(std::ranges::count_if(utf8, [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

}  // namespace stepscope::cli
