#include "core/base/Utf8.h"

#include <algorithm>
#include <utility>

namespace stepscope {

std::size_t utf8At(std::string_view text, char32_t& code) {
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

bool isUtf8(std::string_view text) {
    char32_t code = 0;
    while (!text.empty()) {
        const std::size_t length = utf8At(text, code);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

bool showsAsWritten(char32_t code) {
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    const bool turnsDirection = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    return !control && !turnsDirection;
}

std::string_view firstBytes(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    // A character has at most three bytes after its first.
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, most); ++back) {
        char32_t code = 0;
        if (utf8At(text.substr(most - back), code) > back) return text.substr(0, most - back);
    }
    return text.substr(0, most);
}

std::string printable(std::string_view text, bool keepLines) {
    std::string shown;
    while (!text.empty()) {
        char32_t code = 0;
        const std::size_t length = utf8At(text, code);
        const bool line = keepLines && (code == '\n' || code == '\t');
        if (length == 0 || !(line || showsAsWritten(code)))
            shown += "\uFFFD";
        else
            shown += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return shown;
}

std::string PrintableStream::add(std::string_view piece) {
    m_rest += piece;
    // The last byte that can begin a character, where fewer follow than it asks for.
    std::size_t kept = 0;
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, m_rest.size()); ++back) {
        const auto byte = static_cast<unsigned char>(m_rest[m_rest.size() - back]);
        if ((byte & 0xC0) == 0x80) continue;
        const std::size_t length = byte >= 0xF0 && byte < 0xF5 ? 4 : byte >= 0xE0 && byte < 0xF0 ? 3 : byte >= 0xC2 && byte < 0xE0 ? 2 : 1;
        if (length > back) kept = back;
        break;
    }
    const std::string whole = m_rest.substr(0, m_rest.size() - kept);
    m_rest.erase(0, whole.size());
    return printable(whole, true);
}

std::string PrintableStream::end() {
    const std::string rest = std::move(m_rest);
    m_rest.clear();
    return printable(rest, true);
}

}  // namespace stepscope
