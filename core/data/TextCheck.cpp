#include "core/data/TextCheck.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/Utf8.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostFollowing = 3;  // bytes of a letter after its first

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace

TextCheck::TextCheck(std::string_view bytes, std::string name) : m_bytes(bytes), m_name(std::move(name)) {}

Status TextCheck::refuse(std::string_view what) {
    m_done = true;
    return makeError(ErrorCode::BadInput, fmt::format("{} {}", m_name, what));
}

Status TextCheck::atBeginning() {
    if (m_bytes.empty()) return refuse("is empty: there is nothing to train on; give a text of a few thousand characters.");
    if (m_bytes == kByteOrderMark) return refuse("is empty but for a byte order mark: there is nothing to train on.");
    if (m_bytes.starts_with("\xFF\xFE") || m_bytes.starts_with("\xFE\xFF"))
        return refuse("is UTF-16 text; save it as UTF-8, for example with iconv -f UTF-16 -t UTF-8.");
    return {};
}

// The first byte of the letter that `wanted` lies in. Among more continuation bytes than a letter has, `wanted` itself: no letter reaches it.
std::size_t TextCheck::cutBefore(std::size_t wanted) const {
    if (wanted >= m_bytes.size()) return m_bytes.size();
    for (std::size_t back = 0; back <= kMostFollowing && wanted - back > m_at; ++back)
        if (!continues(m_bytes[wanted - back])) return wanted - back;
    return wanted;
}

Status TextCheck::more(std::size_t count) {
    if (m_done) return {};
    if (m_at == 0)
        if (auto good = atBeginning(); !good) return good;
    const std::size_t end = cutBefore(m_at + std::min(std::max(count, kMostFollowing + 1), m_bytes.size() - m_at));
    const std::string_view piece = m_bytes.substr(m_at, end - m_at);
    const std::size_t broken = utf8::findInvalid(piece), nul = piece.find('\0');
    if (nul < broken)
        return refuse(
            fmt::format("is a binary file (byte {} is NUL); give UTF-8 text, .jsonl, one of both packed as .zst, or tokens as .bin.", m_at + nul));
    if (broken != std::string_view::npos)
        return refuse(fmt::format("is not UTF-8 text: the byte 0x{:02X} at offset {} cannot stand there; save the text as UTF-8.",
                                  static_cast<unsigned char>(piece[broken]), m_at + broken));
    m_at = end;
    m_done = m_at == m_bytes.size();
    return {};
}

}  // namespace stepscope
