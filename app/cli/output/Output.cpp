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

namespace {

// How many bytes of well-formed UTF-8 begin here, 0 when it is none; the code point goes to `code`.
std::size_t decode(std::string_view text, char32_t& code) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return code = first, 1;
    const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xC2 && first < 0xE0 ? 2 : 0;
    if (length == 0 || text.size() < length) return 0;
    code = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    return overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : length;
}

bool turnsDirection(char32_t code) {
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, bool keepLines) {
    std::string shown;
    while (!text.empty()) {
        char32_t code = 0;
        const std::size_t length = decode(text, code);
        const bool line = code == '\n' || code == '\t';
        const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
        if (length == 0 || (control && !(line && keepLines)) || turnsDirection(code))
            shown += "\uFFFD";
        else
            shown += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return shown;
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
