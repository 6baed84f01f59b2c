#include "sessions/wire/Frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/Check.h"
#include "core/base/Format.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

// The first byte is none of UTF-8's: nothing that a shell says before the engine speaks is taken for a frame.
constexpr std::array kFrameMark{std::byte{0xF5}, std::byte{'S'}};
constexpr std::size_t kVersionPlace = 2, kTypePlace = 3, kLengthPlace = 4;
constexpr std::size_t kMostQuoted = 80;  // bytes

// The first line of what came instead of a frame.
std::string quotedBeginning(const std::byte* bytes, std::size_t count) {
    std::string text(reinterpret_cast<const char*>(bytes), std::min(count, kMostQuoted));
    text = text.substr(0, text.find_first_of("\r\n"));
    return printable(text);
}

}  // namespace

Status fitsFrame(const FrameBytes& payload, std::string_view what) {
    if (payload.size() <= kMostFrameBytes) return {};
    const auto words = [](std::size_t bytes) { return format::bytes({static_cast<std::int64_t>(bytes)}); };
    return makeError(ErrorCode::Unsupported, fmt::format("{} takes {}; an engine and who asks it can send each other no more than {} at a time.",
                                                         what, words(payload.size()), words(kMostFrameBytes)));
}

FrameBytes frameOf(FrameType type, const FrameBytes& payload) {
    SS_CHECK(payload.size() <= kMostFrameBytes);
    FrameBytes frame;
    frame.reserve(kFrameHead + payload.size());
    frame.insert(frame.end(), kFrameMark.begin(), kFrameMark.end());
    frame.push_back(std::byte{kWireVersion});
    frame.push_back(static_cast<std::byte>(type));
    const auto length = static_cast<std::uint32_t>(payload.size());
    for (unsigned shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<std::byte>((length >> shift) & 0xFF));
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

void FrameReader::add(const std::byte* bytes, std::size_t count) {
    if (m_wrong) return;
    // What was read is let go of now and then, not with every frame.
    if (m_begin == m_bytes.size()) {
        m_bytes.clear();
        m_begin = 0;
    } else if (m_begin > m_bytes.size() / 2) {
        m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_begin));
        m_begin = 0;
    }
    m_bytes.insert(m_bytes.end(), bytes, bytes + count);
}

Error FrameReader::wrong(const char* what) {
    m_wrong = makeError(ErrorCode::Damaged, fmt::format("What the other side sent is damaged at byte {}: {}.", m_at, what));
    return *m_wrong;
}

Result<std::optional<Frame>> FrameReader::next() {
    if (m_wrong) return *m_wrong;
    const std::byte* head = m_bytes.data() + m_begin;
    const std::size_t have = m_bytes.size() - m_begin;
    for (std::size_t i = 0; i < std::min(have, kFrameMark.size()); ++i) {
        if (head[i] == kFrameMark[i]) continue;
        if (m_at > 0) return wrong("no frame begins there");
        m_wrong = makeError(ErrorCode::BadInput, fmt::format("What answered is no engine of Stepscope: it began with \"{}\". A command that prints "
                                                             "anything before the engine speaks cannot be used.",
                                                             quotedBeginning(head, have)));
        return *m_wrong;
    }
    if (have < kFrameHead) return std::optional<Frame>();
    Frame frame;
    frame.version = static_cast<std::uint8_t>(head[kVersionPlace]);
    const auto type = static_cast<std::uint8_t>(head[kTypePlace]);
    if (type < static_cast<std::uint8_t>(FrameType::Hello) || type > static_cast<std::uint8_t>(kLastFrameType))
        return wrong("a frame of a type that nobody knows");
    frame.type = static_cast<FrameType>(type);
    if (frame.version != kWireVersion && frame.type != FrameType::Hello) return wrong("a frame of another version");
    std::uint32_t length = 0;
    for (unsigned place = 0; place < 4; ++place) length |= static_cast<std::uint32_t>(head[kLengthPlace + place]) << (8 * place);
    if (length > kMostFrameBytes) return wrong("a frame that is longer than it can be");
    if (have - kFrameHead < length) return std::optional<Frame>();
    frame.payload.assign(head + kFrameHead, head + kFrameHead + length);
    m_begin += kFrameHead + length;
    m_at += kFrameHead + length;
    return std::optional<Frame>(std::move(frame));
}

}  // namespace stepscope
