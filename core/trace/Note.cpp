#include "core/trace/Note.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::size_t kMost = 4096;

}  // namespace

ChunkPtr noteChunk(const std::string& sentence, TimeNs at, std::int64_t lane) {
    auto chunk = std::make_shared<Chunk>(Chunk{.kind = kNote, .lane = lane, .begin = at, .end = at + TimeNs{1}, .count = 1});
    chunk->bytes.resize(std::min(sentence.size(), kMost));
    std::ranges::transform(sentence.begin(), sentence.begin() + static_cast<std::ptrdiff_t>(chunk->bytes.size()), chunk->bytes.begin(),
                           [](char c) { return static_cast<std::byte>(c); });
    return chunk;
}

std::string noteOf(const Chunk& chunk) {
    std::string text;
    for (const std::byte byte : chunk.bytes) {
        if (text.size() == kMost) break;
        const auto c = static_cast<unsigned char>(byte);
        text += c < 0x20 || c == 0x7f ? ' ' : static_cast<char>(c);
    }
    return text;
}

}  // namespace stepscope
