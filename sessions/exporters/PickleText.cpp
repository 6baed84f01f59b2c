#include "sessions/exporters/PickleText.h"

#include <utility>

namespace stepscope {
namespace {

constexpr std::size_t kMostRemembered = 1 << 20;
constexpr std::size_t kLongestRemembered = 4096;

void appendLittleEndian(std::string& into, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) into += static_cast<char>(value >> (8 * i));
}

// A reader refuses what is no UTF-8 as a whole.
std::string validUtf8(std::string_view text) {
    std::string good;
    good.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const std::size_t size = byte < 0x80                   ? 1
                                 : byte >= 0xc2 && byte < 0xe0 ? 2
                                 : byte >= 0xe0 && byte < 0xf0 ? 3
                                 : byte >= 0xf0 && byte < 0xf5 ? 4
                                                               : 0;
        bool whole = size > 0 && at + size <= text.size();
        for (std::size_t i = 1; whole && i < size; ++i) whole = (static_cast<unsigned char>(text[at + i]) & 0xc0) == 0x80;
        if (whole && size == 3) {
            const auto second = static_cast<unsigned char>(text[at + 1]);
            whole = !(byte == 0xe0 && second < 0xa0) && !(byte == 0xed && second >= 0xa0);  // longer than needed; surrogates
        }
        if (whole && size == 4) {
            const auto second = static_cast<unsigned char>(text[at + 1]);
            whole = !(byte == 0xf0 && second < 0x90) && !(byte == 0xf4 && second >= 0x90);
        }
        if (whole)
            good += text.substr(at, size);
        else
            good += '?';
        at += whole ? size : 1;
    }
    return good;
}

}  // namespace

void PickleText::text(std::string_view value) {
    if (const auto known = m_memo.find(std::string(value)); known != m_memo.end()) {
        m_text += 'j';  // LONG_BINGET
        appendLittleEndian(m_text, known->second, 4);
        return;
    }
    const std::string good = validUtf8(value);
    m_text += 'X';  // BINUNICODE
    appendLittleEndian(m_text, good.size(), 4);
    m_text += good;
    if (m_memo.size() >= kMostRemembered || value.size() > kLongestRemembered) return;
    const auto number = static_cast<std::uint32_t>(m_memo.size());
    m_memo.emplace(std::string(value), number);
    m_text += 'r';  // LONG_BINPUT
    appendLittleEndian(m_text, number, 4);
}

void PickleText::whole(std::int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
        m_text += 'J';  // BININT
        appendLittleEndian(m_text, static_cast<std::uint64_t>(value), 4);
    } else {
        m_text += "\x8a\x08";  // LONG1 of eight bytes, two's complement
        appendLittleEndian(m_text, static_cast<std::uint64_t>(value), 8);
    }
}

void PickleText::unsignedWhole(std::uint64_t value) {
    if (value <= INT64_MAX) return whole(static_cast<std::int64_t>(value));
    m_text += "\x8a\x09";  // with a ninth byte of zeros: it is not negative
    appendLittleEndian(m_text, value, 8);
    m_text += '\0';
}

std::string PickleText::take() {
    return std::exchange(m_text, {});
}

}  // namespace stepscope
