// Any bytes as a block of allocations: what is read is within its tables and can be written again, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/AllocationCodec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    Chunk chunk{.kind = kAllocations, .lane = 0, .begin = {0}, .end = {std::int64_t{1} << 40}, .count = 0, .bytes = {}};
    if (size > 0) {
        chunk.count = bytes[0];
        const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
        chunk.bytes.assign(data, data + size - 1);
    }
    const auto block = decodeAllocations(chunk);
    if (!block) {
        SS_CHECK(block.error().sentence.starts_with("A block of allocations is damaged at byte "));
        return 0;
    }
    const auto again = decodeAllocations(encodeAllocations(*block));
    SS_CHECK(again && again->allocations.size() == block->allocations.size());
    return 0;
}
