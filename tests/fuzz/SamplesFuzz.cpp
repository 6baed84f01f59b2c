// Any bytes as a block of samples: what is read is within its tables and can be written again, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/SampleCodec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    Chunk chunk{.kind = kSamples, .lane = 0, .begin = {0}, .end = {std::int64_t{1} << 40}, .count = 0, .bytes = {}};
    if (size > 0) {
        chunk.count = bytes[0];
        const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
        chunk.bytes.assign(data, data + size - 1);
    }
    const auto block = decodeSamples(chunk);
    if (!block) {
        SS_CHECK(block.error().sentence.starts_with("A block of samples is damaged at byte "));
        return 0;
    }
    const auto again = decodeSamples(encodeSamples(*block));
    SS_CHECK(again && again->samples.size() == block->samples.size());
    return 0;
}
