#include "core/report/Document.h"

#include <cstdint>

namespace stepscope::report {
namespace {

// Bytes of the character that begins at `at`; 0: these bytes are no UTF-8 (RFC 3629: shortest form, no surrogates, at most U+10FFFF).
std::size_t lengthAt(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0}; };
    const std::uint8_t first = byte(at);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(at + i) & 0xC0) != 0x80) return 0;
    const std::uint8_t second = byte(at + 1);
    const bool wrong =
        (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

}  // namespace

std::string plainText(const std::string& text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = lengthAt(text, at);
        const auto first = static_cast<std::uint8_t>(text[at]);
        const bool control = length == 1 && (first < 0x20 || first == 0x7F) && first != '\n' && first != '\t';
        const bool control1 = length == 2 && first == 0xC2 && static_cast<std::uint8_t>(text[at + 1]) < 0xA0;
        if (length == 0)
            plain += "\xEF\xBF\xBD";
        else if (!control && !control1)
            plain.append(text, at, length);
        at += length == 0 ? 1 : length;
    }
    return plain;
}

}  // namespace stepscope::report
