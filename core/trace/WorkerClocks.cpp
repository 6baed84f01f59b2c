#include "core/trace/WorkerClocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"

namespace stepscope {
namespace {

Error damagedClocks(std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of workers' clocks is damaged at byte {}: {}.", at, what));
}

}  // namespace

Chunk encodeWorkerClocks(const WorkerClocks& clocks) {
    SS_CHECK(!clocks.readings.empty() && clocks.readings.size() <= kMostClocks);
    Chunk chunk;
    chunk.kind = kWorkerClocks;
    chunk.begin = TimeNs{clocks.at};
    chunk.end = TimeNs{clocks.at + 1};
    chunk.count = static_cast<std::int64_t>(clocks.readings.size());
    ByteWriter out;
    out.whole(clocks.readings.size());
    for (const ClockReading& one : clocks.readings) {
        out.integer(one.at);
        out.integer(one.offset);
        out.whole(static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.error)));
    }
    chunk.bytes = out.take();
    return chunk;
}

Result<WorkerClocks> decodeWorkerClocks(const Chunk& chunk) {
    if (chunk.kind != kWorkerClocks)
        return makeError(ErrorCode::BadInput,
                         fmt::format("A block of kind {} holds no clocks of workers; those are of kind {}.", chunk.kind, kWorkerClocks));
    if (const Status good = checkChunk(chunk); !good) return good.error();
    ByteReader in(chunk.bytes);
    // Each reading takes three bytes at least.
    const std::size_t count = in.upTo(std::min(kMostClocks, in.left() / 3), "it has more workers than bytes");
    if (!in.good()) return damagedClocks(in.wrongAt(), in.wrong());
    if (count == 0 || static_cast<std::int64_t>(count) != chunk.count)
        return damagedClocks(in.at(), fmt::format("it says that it holds {} clocks, and its row says {}", count, chunk.count));
    WorkerClocks clocks{.at = chunk.begin.ns, .readings = {}};
    clocks.readings.reserve(count);
    for (std::size_t i = 0; i < count && in.good(); ++i) {
        ClockReading one;
        one.at = in.integer();
        one.offset = in.integer();
        one.error = static_cast<std::int64_t>(in.upTo(std::numeric_limits<std::int64_t>::max(), "an error is larger than there can be"));
        clocks.readings.push_back(one);
    }
    if (!in.good()) return damagedClocks(in.wrongAt(), in.wrong());
    if (in.left() > 0) return damagedClocks(in.at(), "bytes follow its end");
    return clocks;
}

}  // namespace stepscope
