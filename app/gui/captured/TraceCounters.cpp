#include "app/gui/captured/TraceCounters.h"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/analysis/panes/RangePanes.h"
#include "core/events/RunEvents.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"

namespace stepscope {
namespace {

Error nobodyWaits() {
    return makeError(ErrorCode::Cancelled, "Something else is shown now.");
}

// What was measured of the machine while the session ran.
Status deviceCounters(SessionReader& reader, std::int64_t session, std::vector<CounterSeries>& into) {
    const auto samples = reader.samples(session, CounterSeries::kMostPoints + 1);  // one more, so that what is cut says so
    if (!samples) return samples.error();
    std::vector<CounterSeries> all{{"CPU", "%", {}},         {"memory", "GB", {}},   {"GPU", "%", {}},
                                   {"GPU memory", "GB", {}}, {"GPU power", "W", {}}, {"CPU power", "W", {}}};
    for (const DeviceSample& sample : *samples) {
        const std::array<double, 6> values{sample.cpuPct,    static_cast<double>(sample.residentBytes) * 1e-9,
                                           sample.gpuPct,    sample.gpuMemoryBytes * 1e-9,
                                           sample.gpuPowerW, sample.cpuPowerW};
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::isfinite(values[i])) all[i].add(sample.at.ns, values[i]);
    }
    for (auto& series : all)
        if (!series.points.empty()) into.push_back(std::move(series));
    return {};
}

Status sampleCounters(SessionReader& reader, std::int64_t session, const std::function<bool()>& goesOn, TraceCounters& counters) {
    std::vector<CounterSeries>& into = counters.series;
    std::map<std::pair<std::int64_t, std::string>, std::size_t> places;
    std::map<std::int64_t, std::int64_t> missing;  // of a lane
    const auto done = forEachSampleBlock(reader, session, [&](const SampleBlock& block) -> Status {
        if (!goesOn()) return nobodyWaits();
        if (block.name == kCountedOperations) return {};  // sums, not a course
        if (const std::int64_t here = cappedSum(block.lost, block.invalid); here > 0) {
            missing[block.lane] = cappedSum(missing[block.lane], here);
            counters.missing = cappedSum(counters.missing, here);
        }
        for (const Sample& sample : block.samples) {
            const SampleSeries& series = block.series[sample.series];
            const auto [found, added] = places.try_emplace({block.lane, series.name}, into.size());
            if (added) into.push_back({QString::fromStdString(series.name), QString::fromStdString(series.unit), {}});
            into[found->second].add(sample.at, sample.value);
        }
        return {};
    });
    // Of which series they were nobody knows: each of the lane may lack them.
    for (const auto& [place, index] : places)
        if (const auto found = missing.find(place.first); found != missing.end()) into[index].missing = found->second;
    return done;
}

// How many works of each stream were launched and had not begun. Each slice is read for it, so of captures that are too large for that there is none.
Status queueCounters(SessionReader& reader, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                     std::vector<CounterSeries>& into) {
    std::int64_t slices = 0;
    bool devices = false, severalRanks = false;
    for (const TraceLane& lane : lanes.lanes) {
        slices = cappedSum(slices, lane.slices);
        devices = devices || lane.thread.device >= 0;
        severalRanks = severalRanks || lane.thread.rank != lanes.lanes.front().thread.rank;
    }
    if (!devices || slices > PanesReader::kMostSlices) return {};
    std::map<std::int64_t, DeviceSummary> ranks;
    const auto done = forEachSliceBlock(reader, session, [&](const SliceBlock& block) -> Status {
        if (!goesOn()) return nobodyWaits();
        ranks[block.thread.rank].add(block);
        return {};
    });
    if (!done) return done;
    for (const TraceLane& lane : lanes.lanes) {
        if (lane.thread.device < 0) continue;
        const auto points = ranks[lane.thread.rank].queue(lane.thread.device, lane.thread.thread);
        if (points.empty()) continue;
        CounterSeries series{QString("queue of %1").arg(QString::fromStdString(laneWords(lane.thread, severalRanks))), QString("works"), {}};
        for (const QueuePoint& point : points) series.add(point.at.ns, static_cast<double>(point.length));
        into.push_back(std::move(series));
    }
    return {};
}

}  // namespace

Status traceCounters(const std::string& database, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                     TraceCounters& into) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    if (auto read = deviceCounters(**reader, session, into.series); !read) return read;
    if (auto read = sampleCounters(**reader, session, goesOn, into); !read) return read;
    return queueCounters(**reader, session, lanes, goesOn, into.series);
}

}  // namespace stepscope
