#include "core/trace/WorkerTimes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/base/Check.h"
#include "core/trace/ByteColumns.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestPhase = 64;  // bytes

Error damagedTimes(std::size_t at, std::string_view what) {
    return makeError(ErrorCode::Damaged, fmt::format("A block of workers' times is damaged at byte {}: {}.", at, what));
}

}  // namespace

Chunk encodeWorkerTimes(const WorkerTimes& times) {
    SS_CHECK(!times.steps.empty() && times.ns.size() == times.steps.size() * static_cast<std::size_t>(times.workers) * times.phases.size());
    SS_CHECK(times.ns.size() <= kMostTimes);
    Chunk chunk;
    chunk.kind = kWorkerTimes;
    chunk.begin = TimeNs{times.steps.front().at};
    chunk.end = TimeNs{times.steps.back().at + 1};
    chunk.count = static_cast<std::int64_t>(times.ns.size());
    ByteWriter out;
    out.whole(times.phases.size());
    for (const auto& phase : times.phases) out.text(phase);
    out.whole(static_cast<std::uint64_t>(times.workers));
    out.whole(times.steps.size());
    for (const auto& step : times.steps) {
        out.integer(step.number);
        out.integer(step.at);
    }
    for (const std::int64_t ns : times.ns) out.whole(static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns)));
    chunk.bytes = out.take();
    return chunk;
}

Result<WorkerTimes> decodeWorkerTimes(const Chunk& chunk) {
    if (chunk.kind != kWorkerTimes)
        return makeError(ErrorCode::BadInput,
                         fmt::format("A block of kind {} holds no times of workers; those are of kind {}.", chunk.kind, kWorkerTimes));
    if (const Status good = checkChunk(chunk); !good) return good.error();
    ByteReader in(chunk.bytes);
    WorkerTimes times;
    const std::size_t phases = in.upTo(kMostTimedPhases, "it has more phases than there can be");
    for (std::size_t i = 0; i < phases && in.good(); ++i) times.phases.push_back(in.text(kLongestPhase));
    const std::size_t workers = in.upTo(kMostTimedWorkers, "it has more workers than there can be");
    const std::size_t steps = in.upTo(std::min(kMostTimedSteps, in.left() / 2), "it has more steps than bytes");
    times.workers = static_cast<std::int64_t>(workers);
    for (std::size_t i = 0; i < steps && in.good(); ++i) {
        const std::int64_t number = in.integer(), at = in.integer();
        const bool within = at >= chunk.begin.ns && at < chunk.end.ns;
        if (!within || (i > 0 && at < times.steps.back().at)) in.fail("a step lies outside of it or is out of order");
        times.steps.push_back({number, at});
    }
    // Each takes a byte at least; no product of these limits is too large for 64 bits.
    const std::size_t count = steps * workers * phases;
    if (in.good() && (count > in.left() || count > kMostTimes)) in.fail("it has more times than bytes, or than there can be");
    if (!in.good()) return damagedTimes(in.wrongAt(), in.wrong());
    if (static_cast<std::int64_t>(count) != chunk.count)
        return damagedTimes(in.at(), fmt::format("it says that it holds {} times, and its row says {}", count, chunk.count));
    times.ns.reserve(count);
    for (std::size_t i = 0; i < count && in.good(); ++i)
        times.ns.push_back(static_cast<std::int64_t>(in.upTo(std::numeric_limits<std::int64_t>::max(), "a time is too long")));
    if (!in.good()) return damagedTimes(in.wrongAt(), in.wrong());
    if (in.left() > 0) return damagedTimes(in.at(), "bytes follow its end");
    return times;
}

}  // namespace stepscope
