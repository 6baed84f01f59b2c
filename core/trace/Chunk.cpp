#include "core/trace/Chunk.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

Status checkChunk(const Chunk& chunk) {
    // The cause has the words without a full stop, for a sentence about the file that holds the block.
    const auto wrong = [](const std::string& what) { return makeError(ErrorCode::BadInput, what + ".", what); };
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/'; };
    if (chunk.kind.empty() || chunk.kind.size() > Chunk::kMaxKind || !std::ranges::all_of(chunk.kind, allowed))
        return wrong("The kind of a block of bulk data is a word of lower-case letters, digits, \"-\", \".\" and \"/\"");
    if (chunk.end < chunk.begin || chunk.count < 0)
        return wrong(fmt::format("A block of {} ends before it begins or has fewer than no records", chunk.kind));
    if (chunk.bytes.size() > Chunk::kMaxBytes)
        return wrong(fmt::format("A block of {} has {} bytes; at most {} are stored in one", chunk.kind, chunk.bytes.size(), Chunk::kMaxBytes));
    return {};
}

}  // namespace stepscope
