#include "sessions/DeviceShapes.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace stepscope {
namespace {

constexpr std::int64_t kMostOfShape = std::int64_t{1} << 32;
constexpr std::size_t kMostOfRanks = 65536;  // GPUs of all workers of a file together
constexpr double kMostBandwidth = 1e15;      // B/s
constexpr std::int64_t kFactBytesAtOnce = std::int64_t{1} << 20;

// The first of these members that is a plausible number; 0: none.
std::int64_t memberOf(const nlohmann::json& gpu, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const auto found = gpu.find(name);
        if (found == gpu.end() || !found->is_number_integer()) continue;
        const auto value = found->get<std::int64_t>();
        if (value >= 0 && value <= kMostOfShape) return value;
    }
    return 0;
}

// Units for float32 in a multiprocessor, by compute capability (NVIDIA, "CUDA C++ Programming Guide", arithmetic instructions); 0: not in that table.
std::int64_t float32Units(std::int64_t major, std::int64_t minor) {
    switch (major) {
        case 5:
        case 9:
        case 10:
        case 12:
            return 128;
        case 6:
            return minor == 0 ? 64 : 128;
        case 7:
            return 64;
        case 8:
            return minor == 0 ? 64 : 128;
        default:
            return 0;
    }
}

// Blocks that a multiprocessor holds at most, by compute capability (the same guide, technical specifications): PyTorch's profiler does not say. 0:
// of one that is not in that table.
std::int64_t residentBlocks(std::int64_t major, std::int64_t minor) {
    constexpr std::int64_t kMost = 32;
    switch (major) {
        case 5:
        case 6:
            return kMost;
        case 7:
            return minor == 5 ? 16 : minor < 5 ? kMost : 0;
        case 8:
            return minor == 0 ? kMost : minor == 6 || minor == 7 ? 16 : minor == 9 ? 24 : 0;
        case 9:
            return minor == 0 ? kMost : 0;
        case 10:
            return minor == 0 || minor == 3 ? kMost : 0;
        case 11:
            return minor == 0 ? 24 : 0;
        case 12:
            return 24;
        default:
            return 0;
    }
}

// As PyTorch's profiler, this program and Nsight Systems write it.
void takeShape(const nlohmann::json& gpu, std::map<std::int64_t, GpuShape>& into) {
    if (!gpu.is_object()) return;
    GpuShape shape{
        .multiprocessors = memberOf(gpu, {"numSms", "smCount"}),
        .threadsPerMultiprocessor = memberOf(gpu, {"maxThreadsPerMultiprocessor"}),
        .registersPerMultiprocessor = memberOf(gpu, {"regsPerMultiprocessor", "maxRegistersPerSm"}),
        .sharedPerMultiprocessorBytes = memberOf(gpu, {"sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor", "maxShmemPerSm"})};
    if (const std::int64_t warp = memberOf(gpu, {"warpSize", "threadsPerWarp"}); warp > 0) shape.warp = warp;
    if (const std::int64_t warps = memberOf(gpu, {"maxWarpsPerSm"}); warps > 0 && shape.threadsPerMultiprocessor == 0 && warps <= 1024)
        shape.threadsPerMultiprocessor = warps * std::min<std::int64_t>(shape.warp, 1024);
    const std::int64_t major = memberOf(gpu, {"computeMajor"}), minor = memberOf(gpu, {"computeMinor"});
    // Traces of AMD's GPUs, which count their capabilities otherwise, do not say how many registers a multiprocessor has.
    if (shape.registersPerMultiprocessor > 0) {
        if (major > 0) shape.blocksPerMultiprocessor = residentBlocks(major, minor);  // some traces name no capability
        if (major >= 8) shape.sharedReservedBytes = 1024;
    }
    if (const std::int64_t blocks = memberOf(gpu, {"maxBlocksPerSm"}); blocks > 0) shape.blocksPerMultiprocessor = blocks;
    // In kHz; traces of PyTorch do not have it.
    const auto clock = static_cast<double>(memberOf(gpu, {"clockKHz"}));
    const std::int64_t units = float32Units(major, minor);
    shape.float32 = 2 * clock * 1e3 * static_cast<double>(units) * static_cast<double>(std::min<std::int64_t>(shape.multiprocessors, 1 << 16));
    if (const auto found = gpu.find("bandwidthBytesPerSecond"); found != gpu.end() && found->is_number())
        if (const auto value = found->get<double>(); value > 0 && value < kMostBandwidth) shape.bytesPerSecond = value;
    if (shape.multiprocessors > 0) into.try_emplace(memberOf(gpu, {"id"}), shape);
}

// The workers that a file is of, as they are shown in the session.
std::vector<std::int64_t> ranksOf(const nlohmann::json& facts) {
    std::vector<std::int64_t> ranks;
    if (const auto several = facts.find("ranks"); several != facts.end() && several->is_array()) {
        for (const auto& rank : *several)
            if (rank.is_number_integer()) ranks.push_back(rank.get<std::int64_t>());
    } else if (const auto one = facts.find("rank"); one != facts.end() && one->is_number_integer()) {
        ranks.push_back(one->get<std::int64_t>());
    }
    return ranks;
}

}  // namespace

Result<GpuShapes> deviceShapes(SessionReader& reader, std::int64_t session) {
    const auto lanes = reader.chunkLanes(session);
    if (!lanes) return lanes.error();
    GpuShapes shapes;
    for (const auto& lane : *lanes) {
        const bool own = lane.kind == "device/1";
        if (!own && lane.kind != "trace-facts/1") continue;
        const ChunkRange all{lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}};
        const auto page = reader.chunks(session, all, {}, kFactBytesAtOnce);
        if (!page) return page.error();
        for (const auto& chunk : page->chunks) {
            const auto* text = reinterpret_cast<const char*>(chunk->bytes.data());
            const auto json = nlohmann::json::parse(text, text + chunk->bytes.size(), nullptr, false);
            if (own) takeShape(json, shapes.first);
            if (own || !json.is_object() || !json.contains("facts") || !json["facts"].is_object()) continue;
            GpuShapes::ByOrdinal ofFile;
            for (const char* list : {"deviceProperties", "gpus"})
                if (json["facts"].contains(list) && json["facts"][list].is_array())
                    for (const auto& gpu : json["facts"][list]) takeShape(gpu, ofFile);
            for (const auto& [ordinal, shape] : ofFile) shapes.first.try_emplace(ordinal, shape);
            const auto ranks = ranksOf(json);
            if (ofFile.size() * ranks.size() > kMostOfRanks) continue;
            for (const std::int64_t rank : ranks) shapes.ofRank[rank].insert(ofFile.begin(), ofFile.end());
        }
    }
    return shapes;
}

}  // namespace stepscope
