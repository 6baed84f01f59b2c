// Any bytes as a stored frame of bulk data, whose size a row tells: the bytes it said, or one sentence; never more memory than a block may have.
#include "core/base/Check.h"
#include "sessions/record/ChunkPacking.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    // What the row says is mostly what the frame says: else nothing is ever unpacked.
    std::int64_t said = 0;
    for (std::size_t i = 0; i < 3 && i < size; ++i) said = said * 256 + bytes[i];
    const std::size_t head = size < 3 ? size : 3;
    const auto content = unpacked(bytes + head, size - head, said);
    if (!content) {
        SS_CHECK(content.error().sentence.ends_with('.'));
        return 0;
    }
    SS_CHECK(static_cast<std::int64_t>(content->size()) == said);
    Chunk chunk{.kind = "any/1", .lane = 0, .begin = {0}, .end = {1}, .count = 1, .bytes = *content};
    const std::string frame = packed(chunk);
    const auto again = unpacked(frame.data(), frame.size(), said);
    SS_CHECK(again && *again == *content);
    return 0;
}
