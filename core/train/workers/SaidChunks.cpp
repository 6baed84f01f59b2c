#include "core/train/workers/SaidChunks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"

namespace stepscope {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostAround = 256;  // of a block beside its own bytes

std::size_t lengthOf(const std::vector<std::byte>& bytes) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    return static_cast<std::size_t>(length);
}

std::optional<Chunk> chunkOf(const std::vector<std::byte>& said) {
    ByteReader in(said);
    Chunk chunk;
    chunk.kind = in.text(Chunk::kMaxKind);
    chunk.lane = in.integer();
    chunk.begin.ns = in.integer();
    chunk.end.ns = in.integer();
    chunk.count = static_cast<std::int64_t>(in.upTo(std::numeric_limits<std::int64_t>::max(), "it has more records than there can be"));
    if (!in.good()) return std::nullopt;
    chunk.bytes.assign(said.begin() + static_cast<std::ptrdiff_t>(in.at()), said.end());
    const bool can = chunk.bytes.size() <= kMostSaidBytes && checkChunk(chunk);
    return can ? std::optional(std::move(chunk)) : std::nullopt;
}

}  // namespace

void sayChunk(const Chunk& chunk, std::vector<std::byte>& into) {
    SS_CHECK(chunk.bytes.size() <= kMostSaidBytes && chunk.kind.size() <= Chunk::kMaxKind);
    ByteWriter out;
    out.text(chunk.kind);
    out.integer(chunk.lane);
    out.integer(chunk.begin.ns);
    out.integer(chunk.end.ns);
    out.whole(static_cast<std::uint64_t>(std::max<std::int64_t>(0, chunk.count)));
    const std::vector<std::byte> head = out.take();
    const std::uint64_t length = head.size() + chunk.bytes.size();
    for (std::size_t i = 0; i < kLengthBytes; ++i) into.push_back(static_cast<std::byte>(length >> (8 * i)));
    into.insert(into.end(), head.begin(), head.end());
    into.insert(into.end(), chunk.bytes.begin(), chunk.bytes.end());
}

void HeardChunks::hear(const std::byte* bytes, std::size_t count, const std::function<void(const Chunk&)>& take) {
    while (m_good && count > 0) {
        const bool lengthThere = m_pending.size() >= kLengthBytes;
        const std::size_t wanted = kLengthBytes + (lengthThere ? lengthOf(m_pending) : 0);
        const std::size_t some = std::min(count, wanted - m_pending.size());
        m_pending.insert(m_pending.end(), bytes, bytes + some);
        bytes += some;
        count -= some;
        if (!lengthThere) {
            m_good = m_pending.size() < kLengthBytes || (lengthOf(m_pending) > 0 && lengthOf(m_pending) <= kMostSaidBytes + kMostAround);
            continue;
        }
        if (m_pending.size() < wanted) continue;
        m_pending.erase(m_pending.begin(), m_pending.begin() + static_cast<std::ptrdiff_t>(kLengthBytes));
        const auto chunk = chunkOf(m_pending);
        m_pending.clear();
        m_good = chunk.has_value();
        if (chunk) take(*chunk);
    }
    if (!m_good) m_pending = {};
}

}  // namespace stepscope
