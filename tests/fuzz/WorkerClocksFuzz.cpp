// Any bytes as a block of workers' clocks: what is read can be written again and is the same, or it is one sentence.
#include "core/base/Check.h"
#include "core/trace/WorkerClocks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    Chunk chunk{.kind = kWorkerClocks, .lane = 0, .begin = {0}, .end = {1}, .count = 0, .bytes = {}};
    if (size > 0) {
        chunk.count = bytes[0];
        const auto* data = reinterpret_cast<const std::byte*>(bytes + 1);
        chunk.bytes.assign(data, data + size - 1);
    }
    const auto clocks = decodeWorkerClocks(chunk);
    if (!clocks) {
        SS_CHECK(clocks.error().sentence.starts_with("A block of workers' clocks is damaged at byte "));
        return 0;
    }
    const auto again = decodeWorkerClocks(encodeWorkerClocks(*clocks));
    SS_CHECK(again && *again == *clocks);
    // Whatever the numbers are, what is made of them is one.
    WorkerClock clock;
    for (const ClockReading& one : clocks->readings) clock.add(one);
    const ClockLine line = clock.over(clocks->readings.front().at, clocks->readings.back().at);
    SS_CHECK(line.error >= 0);
    (void)line(clocks->readings.front().at);
    return 0;
}
