#include "app/gui/captured/TraceCounters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/analysis/captures/QueueFold.h"
#include "core/events/RunEvents.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"

namespace stepscope {
namespace {

// Means that are drawn of a stream's queue, and of those of all streams together.
constexpr std::size_t kMostStretchesEach = 50'000, kMostStretches = 2'000'000;
static_assert(2 * kMostStretchesEach < CounterSeries::kMostPoints);

Error nobodyWaits() {
    return makeError(ErrorCode::Cancelled, "Something else is shown now.");
}

// What was measured of the machine while the session ran.
Status deviceCounters(SessionReader& reader, std::int64_t session, std::vector<CounterSeries>& into) {
    const auto samples = reader.samples(session, CounterSeries::kMostPoints + 1);  // one more, so that what is cut says so
    if (!samples) return samples.error();
    std::vector<CounterSeries> all{{"CPU", "%", {}},         {"process memory", "GB", {}}, {"GPU", "%", {}},
                                   {"GPU memory", "GB", {}}, {"GPU power", "W", {}},       {"CPU power", "W", {}}};
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

bool hasSeveralRanks(const TraceLanes& lanes) {
    return std::ranges::any_of(lanes.lanes, [&](const TraceLane& lane) { return lane.thread.rank != lanes.lanes.front().thread.rank; });
}

Status sampleCounters(SessionReader& reader, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                      TraceCounters& counters) {
    const bool severalRanks = hasSeveralRanks(lanes);
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
            if (added) {
                QString name = QString::fromStdString(series.name);
                if (severalRanks) name += QString(", rank %1").arg(block.rank);
                into.push_back({name, QString::fromStdString(series.unit), {}});
                into.back().ofCaptures = true;
            }
            into[found->second].add(sample.at, sample.value);
        }
        return {};
    });
    // Of which series they were nobody knows: each of the lane may lack them.
    for (const auto& [place, index] : places)
        if (const auto found = missing.find(place.first); found != missing.end()) into[index].missing = found->second;
    return done;
}

void addQueue(const TraceLane& lane, bool severalRanks, const char* unit, std::vector<std::pair<qint64, double>> points,
              std::vector<CounterSeries>& into) {
    if (points.empty()) return;
    CounterSeries series{QString("queue of %1").arg(QString::fromStdString(laneWords(lane.thread, severalRanks))), QString(unit), {}};
    series.ofCaptures = true;
    for (const auto& [at, length] : points) series.add(at, length);
    into.push_back(std::move(series));
}

using StreamPlace = std::array<std::int64_t, 3>;  // rank, device, stream
StreamPlace streamPlaceOf(const SliceThread& thread) {
    return {thread.rank, thread.device, thread.thread};
}

// A lane of each stream: its waits, and what overlapped on it, have others of their own, and its queue is one.
std::vector<const TraceLane*> laneOfEachStream(const TraceLanes& lanes) {
    std::vector<const TraceLane*> some;
    std::set<StreamPlace> seen;
    for (const TraceLane& lane : lanes.lanes)
        if (lane.thread.device >= 0 && seen.insert(streamPlaceOf(lane.thread)).second) some.push_back(&lane);
    return some;
}

// The same of captures of any size, read as time goes on.
Status foldedQueues(SessionReader& reader, std::int64_t session, const TraceLanes& lanes, bool severalRanks, const std::function<bool()>& goesOn,
                    std::vector<CounterSeries>& into) {
    std::map<StreamPlace, std::int64_t> works;
    for (const TraceLane& lane : lanes.lanes)
        if (lane.thread.device >= 0) works[streamPlaceOf(lane.thread)] = cappedSum(works[streamPlaceOf(lane.thread)], lane.slices);
    std::map<StreamPlace, QueueFold> folds;
    const std::size_t stretches = std::clamp<std::size_t>(kMostStretches / works.size(), 1, kMostStretchesEach);
    for (const auto& [stream, count] : works) folds.try_emplace(stream, count, stretches);
    NewestLaunches launches;
    const auto done = forEachSliceBlockInTime(reader, session, [&](const SliceBlock& block) -> Status {
        if (!goesOn()) return nobodyWaits();
        const auto fold = folds.find(streamPlaceOf(block.thread));
        for (const Slice& slice : block.slices) {
            launches.add(block.thread.rank, slice);
            if (fold == folds.end() || !isDeviceWork(slice.kind)) continue;
            if (const auto launched = launches.of(block.thread.rank, slice)) fold->second.add(*launched, slice.start);
        }
        return {};
    });
    if (!done) return done;
    for (const TraceLane* lane : laneOfEachStream(lanes)) {
        std::vector<std::pair<qint64, double>> points;
        for (const QueueMean& mean : folds.at(streamPlaceOf(lane->thread)).means()) points.emplace_back(mean.at.ns, mean.length);
        addQueue(*lane, severalRanks, "waiting on average", std::move(points), into);
    }
    return {};
}

// How many works of each stream were launched and had not begun, told by every slice.
Status queueCounters(SessionReader& reader, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn, std::int64_t most,
                     std::vector<CounterSeries>& into) {
    std::int64_t slices = 0;
    const bool severalRanks = hasSeveralRanks(lanes);
    bool devices = false;
    for (const TraceLane& lane : lanes.lanes) {
        slices = cappedSum(slices, lane.slices);
        devices = devices || lane.thread.device >= 0;
    }
    if (!devices) return {};
    if (slices > most) return foldedQueues(reader, session, lanes, severalRanks, goesOn, into);
    std::map<std::int64_t, DeviceSummary> ranks;
    const auto done = forEachSliceBlock(reader, session, [&](const SliceBlock& block) -> Status {
        if (!goesOn()) return nobodyWaits();
        ranks[block.thread.rank].add(block);
        return {};
    });
    if (!done) return done;
    for (const TraceLane* lane : laneOfEachStream(lanes)) {
        std::vector<std::pair<qint64, double>> points;
        for (const QueuePoint& point : ranks[lane->thread.rank].queue(lane->thread.device, lane->thread.thread))
            points.emplace_back(point.at.ns, static_cast<double>(point.length));
        addQueue(*lane, severalRanks, "waiting", std::move(points), into);
    }
    return {};
}

}  // namespace

Status traceCounters(const std::string& database, std::int64_t session, const TraceLanes& lanes, const std::function<bool()>& goesOn,
                     TraceCounters& into, std::int64_t most) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    if (auto read = deviceCounters(**reader, session, into.series); !read) return read;
    if (auto read = sampleCounters(**reader, session, lanes, goesOn, into); !read) return read;
    return queueCounters(**reader, session, lanes, goesOn, most, into.series);
}

}  // namespace stepscope
