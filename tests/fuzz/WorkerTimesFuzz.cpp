// Any bytes as a block of workers' times: what is read can be written again and is the same, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/WorkerTimes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    Chunk chunk{.kind = kWorkerTimes, .lane = 0, .begin = {0}, .end = {std::int64_t{1} << 40}, .count = 0, .bytes = {}};
    if (size > 0) {
        chunk.count = bytes[0];
        const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
        chunk.bytes.assign(data, data + size - 1);
    }
    const auto times = decodeWorkerTimes(chunk);
    if (!times) {
        SS_CHECK(times.error().sentence.starts_with("A block of workers' times is damaged at byte "));
        return 0;
    }
    if (times->ns.empty()) return 0;
    const auto again = decodeWorkerTimes(encodeWorkerTimes(*times));
    SS_CHECK(again && *again == *times);
    return 0;
}
