// Any bytes as a block of slices: what is read is within its tables and can be written again, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/SliceCodec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    Chunk chunk{.kind = kSlices, .lane = 0, .begin = {0}, .end = {std::int64_t{1} << 40}, .count = 0, .bytes = {}};
    if (size > 0) {
        chunk.count = bytes[0];
        const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
        chunk.bytes.assign(data, data + size - 1);
    }
    const auto block = decodeSlices(chunk);
    if (!block) {
        SS_CHECK(block.error().sentence.starts_with("A block of slices is damaged at byte "));
        return 0;
    }
    for (const auto& slice : block->slices) {
        SS_CHECK(slice.name < block->strings.size() && slice.phase < block->strings.size() && slice.role < block->strings.size());
        SS_CHECK(slice.self() >= 0);
        argumentsOf(block->arguments.at(slice.arguments).text);
    }
    const auto again = decodeSlices(encodeSlices(*block));
    SS_CHECK(again && again->slices.size() == block->slices.size());
    return 0;
}
