#include "sessions/exporters/KinetoTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/trace/AllocationCodec.h"
#include "sessions/DeviceShapes.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/Gzip.h"
#include "sessions/exporters/KinetoRows.h"
#include "sessions/importers/JsonScan.h"

namespace stepscope {
namespace {

constexpr const char* kTraceFacts = "trace-facts/1";  // a lane a file (importers/Import.cpp)

// What a session's row says may be anything.
std::int64_t baseTime(std::int64_t unixMs) {
    constexpr std::int64_t kNsPerMs = 1'000'000;
    return std::clamp<std::int64_t>(unixMs, 0, std::numeric_limits<std::int64_t>::max() / kNsPerMs) * kNsPerMs;
}

// What an imported trace said of itself, where the session is one: its devices, its workers, and when its first event was.
struct TraceFacts {
    std::int64_t originNs = 0;
    std::string devices = "[]";
    std::string workers;
};

// Of a run of ours: the first of its workers records, and all are joined by Gloo, those on GPUs by NCCL. How many there were an earlier version did
// not say, nor do traces without a word on it: at least as many as have a part. The sides of an experiment are none.
std::string ownWorkers(const SessionInfo& info, const std::vector<SliceThread>& threads, const OneRank& rank) {
    std::set<std::int64_t> there;
    for (const auto& thread : threads) there.insert(thread.rank);
    const bool gpus = std::ranges::any_of(threads, [](const SliceThread& thread) { return thread.device >= 0; });
    const std::int64_t workers = std::max(info.workers, info.kind == SessionKind::Experiment ? std::int64_t{1} : std::ssize(there));
    return fmt::format("{{\"backend\": \"{}\", \"rank\": {}, \"world_size\": {}}}", gpus && workers > 1 ? "nccl" : "gloo", rank.value_or(0),
                       std::max<std::int64_t>(workers, 1));
}

// Of a session of several workers: which processes are whose, for who imports the trace. The format knows one worker a file, and the processes of the
// others have numbers beyond those of the first (KinetoRows.h).
std::string ranksOf(const std::vector<SliceThread>& threads) {
    std::set<std::int64_t> ranks;
    for (const auto& thread : threads) ranks.insert(thread.rank);
    if (ranks.size() < 2) return {};
    return fmt::format("\"stepscopeRanks\": {{\"ranks\": [{}], \"apart\": {}}},\n", fmt::join(ranks, ", "), kineto::kPerRank);
}

// With a space behind each colon: readers find the rank by a pattern that wants one.
std::string spaced(const nlohmann::ordered_json& json) {
    if (json.is_object()) {
        std::string text = "{";
        for (const auto& [key, value] : json.items())
            text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", kineto::quoted(key), spaced(value));
        return text + "}";
    }
    if (json.is_array()) {
        std::string text = "[";
        for (const auto& value : json) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", spaced(value));
        return text + "]";
    }
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The format has no units of counters: for who imports the trace. A name that has two of them has none.
Result<std::string> unitsOf(SessionReader& reader, std::int64_t session, const OneRank& rank, const ExportProgress& progress) {
    std::map<std::string, std::string> units;
    const auto read = forEachSampleBlock(reader, session, [&](const SampleBlock& block) -> Status {
        if (!isOfRank(rank, block) || block.name == kCountedOperations) return stillWanted(progress);
        for (const auto& series : block.series) {
            const auto [found, added] = units.try_emplace(series.name, series.unit);
            if (!added && found->second != series.unit) found->second.clear();
        }
        return stillWanted(progress);
    });
    if (!read) return read.error();
    std::erase_if(units, [](const auto& one) { return one.first.empty() || one.second.empty(); });
    if (units.empty()) return std::string();
    return "\"stepscopeUnits\": " + spaced(nlohmann::ordered_json(units)) + ",\n";
}

// Discarded where it is none, or nested deeper than who writes it again can walk.
nlohmann::ordered_json jsonOf(const Chunk& chunk) {
    const auto* text = reinterpret_cast<const char*>(chunk.bytes.data());
    if (!importing::isShallowJson({text, chunk.bytes.size()})) return nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded);
    return nlohmann::ordered_json::parse(text, text + chunk.bytes.size(), nullptr, false);
}

// What captures of ours said of each GPU, in the words of Kineto (core/profile/DeviceFacts.h).
Result<std::string> capturedDevices(SessionReader& reader, std::int64_t session, const std::vector<ChunkLane>& lanes) {
    std::string all;
    for (const auto& lane : lanes) {
        if (lane.kind != "device/1") continue;
        const auto page = reader.chunks(
            session, {lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}}, {}, 1);
        if (!page) return page.error();
        if (page->chunks.empty()) continue;
        if (const auto device = jsonOf(*page->chunks.front()); device.is_object()) all += (all.empty() ? "" : ", ") + spaced(device);
    }
    return "[" + all + "]";
}

// Of an import what its file said; of several files the first, or the one that was of this worker. No object where none said anything.
Status saidFacts(SessionReader& reader, std::int64_t session, const std::vector<ChunkLane>& lanes, const OneRank& rank,
                 nlohmann::ordered_json& into) {
    for (const auto& lane : lanes) {
        if (lane.kind != kTraceFacts || (lane.lane != 0 && !rank)) continue;
        const auto page = reader.chunks(
            session, {lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}}, {}, 1);
        if (!page) return page.error();
        if (page->chunks.empty()) continue;
        auto facts = jsonOf(*page->chunks.front());
        if (!facts.is_object()) continue;
        const bool asked = rank && facts.contains("rank") && facts["rank"].is_number_integer() && facts["rank"].get<std::int64_t>() == *rank;
        if (asked || lane.lane == 0) into = std::move(facts);
        if (asked) break;
    }
    return {};
}

// A GPU as a report of Nsight Systems describes it, in the words of Kineto: readers look peaks up by its name, and what fills it by its sizes.
nlohmann::ordered_json inKinetosWords(const nlohmann::ordered_json& gpu) {
    constexpr std::array<std::pair<const char*, const char*>, 13> words{{{"id", "id"},
                                                                         {"name", "name"},
                                                                         {"totalGlobalMem", "totalMemory"},
                                                                         {"computeMajor", "computeMajor"},
                                                                         {"computeMinor", "computeMinor"},
                                                                         {"maxThreadsPerBlock", "maxThreadsPerBlock"},
                                                                         {"regsPerBlock", "maxRegistersPerBlock"},
                                                                         {"warpSize", "threadsPerWarp"},
                                                                         {"sharedMemPerBlock", "maxShmemPerBlock"},
                                                                         {"numSms", "smCount"},
                                                                         {"regsPerMultiprocessor", "maxRegistersPerSm"},
                                                                         {"sharedMemPerBlockOptin", "maxShmemPerBlockOptin"},
                                                                         {"sharedMemPerMultiprocessor", "maxShmemPerSm"}}};
    constexpr std::uint64_t kMostWarps = 1024;
    auto made = nlohmann::ordered_json::object();
    for (const auto& [ours, theirs] : words)
        if (const auto found = gpu.find(theirs); found != gpu.end() && (found->is_number() || found->is_string())) made[ours] = *found;
    const auto warps = gpu.find("maxWarpsPerSm"), warp = gpu.find("threadsPerWarp");
    const auto few = [&](const auto& found) {
        return found != gpu.end() && found->is_number_unsigned() && found->template get<std::uint64_t>() <= kMostWarps;
    };
    if (few(warps) && few(warp)) made["maxThreadsPerMultiprocessor"] = warps->get<std::uint64_t>() * warp->get<std::uint64_t>();
    return made;
}

Result<TraceFacts> factsOf(SessionReader& reader, std::int64_t session, const SessionInfo& info, const std::vector<ChunkLane>& lanes,
                           const std::vector<SliceThread>& threads, const OneRank& rank) {
    TraceFacts found{.originNs = baseTime(info.startedUnixMs), .workers = ownWorkers(info, threads, rank)};
    nlohmann::ordered_json facts;
    if (const auto read = saidFacts(reader, session, lanes, rank, facts); !read) return read.error();
    if (!facts.is_object()) return found;
    if (facts.contains("origin_ns") && facts["origin_ns"].is_number_unsigned() && facts["origin_ns"].get<std::uint64_t>() < 1ULL << 62)
        found.originNs = facts["origin_ns"].get<std::int64_t>();
    if (!facts.contains("facts") || !facts["facts"].is_object()) return found;
    const auto& file = facts["facts"];
    if (file.contains("deviceProperties") && file["deviceProperties"].is_array()) {
        found.devices = spaced(file["deviceProperties"]);
    } else if (file.contains("gpus") && file["gpus"].is_array()) {
        auto devices = nlohmann::ordered_json::array();
        for (const auto& gpu : file["gpus"])
            if (gpu.is_object()) devices.push_back(inKinetosWords(gpu));
        found.devices = spaced(devices);
    }
    if (file.contains("distributedInfo") && file["distributedInfo"].is_object()) {
        auto workers = file["distributedInfo"];
        if (rank) workers["rank"] = *rank;  // here it may have another than there
        found.workers = spaced(workers);
    }
    return found;
}

}  // namespace

Status exportKinetoTrace(const std::string& database, std::int64_t session, std::ostream& out, const std::string& name,
                         const ExportProgress& progress, const OneRank& rank) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    const auto count = sliceCount(**reader, session);
    if (!count) return count.error();
    if (*count == 0) return noCapture(session);
    auto threads = sliceThreads(**reader, session);
    if (!threads) return threads.error();
    std::set<std::int64_t> captured;
    for (const auto& thread : *threads) captured.insert(thread.rank);
    if (auto there = rankIsThere(rank, session, captured); !there) return there;
    const auto lanes = (*reader)->chunkLanes(session);
    if (!lanes) return lanes.error();
    auto facts = factsOf(**reader, session, *info, *lanes, *threads, rank);
    if (!facts) return facts.error();
    std::erase_if(*threads, [&](const SliceThread& thread) { return !isOfRank(rank, thread.rank); });
    if (facts->devices == "[]") {
        auto devices = capturedDevices(**reader, session, *lanes);
        if (!devices) return devices.error();
        facts->devices = std::move(*devices);
    }
    auto gpus = deviceShapes(**reader, session);
    if (!gpus) return gpus.error();
    const bool memory = std::ranges::any_of(*lanes, [](const ChunkLane& lane) { return lane.kind == kAllocations; });
    kineto::KinetoLinks links;
    auto linked = forEachSliceBlockByBegin(**reader, session, [&](const SliceBlock& block) -> Status {
        if (isOfRank(rank, block)) links.add(block);
        return stillWanted(progress);
    });
    if (!linked) return linked;
    links.done();
    const auto units = unitsOf(**reader, session, rank, progress);
    if (!units) return units.error();
    out << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": " << facts->devices << ",\n\"distributedInfo\": " << facts->workers << ",\n"
        << ranksOf(*threads) << *units << "\"record_shapes\": 1,\n\"with_flops\": 1,\n\"with_stack\": " << (links.hasStacks() ? 1 : 0)
        << ",\n\"profile_memory\": " << (memory ? 1 : 0) << ",\n"
        << "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": " << facts->originNs << ",\n\"traceEvents\": [";
    kineto::KinetoRows rows(out, *threads, links, std::move(*gpus));
    for (const auto& thread : *threads) rows.metadata(thread);
    const auto add = [&](const auto& block) { return isOfRank(rank, block) ? rows.add(block) : Status(); };
    if (auto done = forEachSliceBlock(**reader, session, add); !done) return done;
    if (auto done = forEachSampleBlock(**reader, session, add); !done) return done;
    if (auto done = forEachAllocationBlock(**reader, session, add); !done) return done;
    if (auto done = rows.flush(); !done) return done;
    out << "\n],\n\"traceName\": " << kineto::quoted(name) << "\n}\n";
    out.flush();
    if (out) return {};
    return makeError(ErrorCode::Io, "The trace could not be written; check the free room and the permissions of the target.");
}

Result<std::string> exportKinetoTraceFile(const std::string& database, std::int64_t session, const std::string& path, const ExportProgress& progress,
                                          const OneRank& rank) {
    if (path == "-") {
        if (auto done = exportKinetoTrace(database, session, std::cout, "stdout", {}, rank); !done) return done.error();
        return path;
    }
    const std::string target = path.empty() ? fmt::format("session-{}.pt.trace.json.gz", session) : path;
    const bool packed = target.ends_with(".json.gz");
    if (!packed && !target.ends_with(".json"))
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is no name that readers of traces look for; let it end in .pt.trace.json.gz, .json.gz or .json.", target))
            .about(Subject::Kind::File, target);
    const auto write = [&](std::ostream& out) -> Status {
        if (!packed) return exportKinetoTrace(database, session, out, target, progress, rank);
        GzipStream gzip(out);
        if (auto written = exportKinetoTrace(database, session, gzip, target, progress, rank); !written) return written;
        if (gzip.finish()) return {};
        return makeError(ErrorCode::Io, fmt::format("{} could not be written; check the free room there.", target));
    };
    auto done = exportToFile(target, write, progress);
    if (!done) return done.error();
    return target;
}

}  // namespace stepscope
