#include "app/workbench/diagnose/RoofChoice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "app/workbench/diagnose/PeakMeter.h"

namespace stepscope {
namespace {

bool areAlike(const GpuShape& a, const GpuShape& b) {
    return a.bytesPerSecond == b.bytesPerSecond && a.float32 == b.float32;
}

// Roofs are laid over kernels by name, whichever GPUs ran them. Of unlike ones that of the GPU that worked most is right for most of them.
Roof roofOfDevice(const GpuShapes& shapes, std::vector<GpuWork> worked) {
    if (worked.empty())
        for (const auto& [number, shape] : shapes.first) worked.push_back({.device = number, .time = {}});
    const auto shapeOf = [&](const GpuWork& gpu) {
        const GpuShape* const shape = shapes.find(gpu.rank, gpu.device);
        return shape != nullptr && shape->bytesPerSecond > 0 ? shape : nullptr;
    };
    const auto known = std::ranges::find_if(worked, [&](const GpuWork& gpu) { return shapeOf(gpu) != nullptr; });
    if (known == worked.end()) return {.whyNone = "no roof: the trace does not say how fast its GPU computes and how fast its memory is"};
    const bool ranks = std::ranges::any_of(worked, [&](const GpuWork& gpu) { return gpu.rank != worked.front().rank; });
    const auto named = [&](const GpuWork& gpu) {
        return ranks ? fmt::format("GPU {} of rank {}", gpu.device, gpu.rank) : fmt::format("GPU {}", gpu.device);
    };
    const auto roof = [&](const GpuWork& gpu, const char* which) {
        const GpuShape& shape = *shapeOf(gpu);
        return Roof{.float32 = shape.float32,
                    .bytesPerSecond = shape.bytesPerSecond,
                    .source = fmt::format("of {}{} by its clocks, not measured", named(gpu), which)};
    };
    const GpuWork& most = *std::ranges::max_element(worked, {}, [](const GpuWork& gpu) { return gpu.time; });
    if (most.time.ns > 0 && shapeOf(most) == nullptr)
        return {.whyNone =
                    fmt::format("no roof: the trace does not say how fast {}, which worked most, computes and how fast its memory is", named(most))};
    const bool unlike =
        std::ranges::any_of(worked, [&](const GpuWork& gpu) { return shapeOf(gpu) != nullptr && !areAlike(*shapeOf(gpu), *shapeOf(*known)); });
    if (!unlike) return roof(*known, "");
    if (most.time.ns <= 0) return {.whyNone = "no roof: the trace has unlike GPUs, and which of them worked is not known"};
    return roof(most, ", which worked most of unlike GPUs,");
}

bool sameMachine(const Machine& a, const Machine& b) {
    return a.cpu == b.cpu && a.cores == b.cores && a.instructions == b.instructions && a.gpus == b.gpus;
}

double orNothing(double measured) {
    return std::isfinite(measured) ? measured : 0;
}

}  // namespace

std::vector<GpuWork> gpuWorkOf(const RangePanes& panes) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> times;
    for (const PaneStream& stream : panes.streams) {
        std::int64_t& time = times[{stream.rank, stream.time.device}];
        time = cappedSum(time, stream.time.busy.ns);
    }
    std::vector<GpuWork> worked;
    worked.reserve(times.size());
    for (const auto& [gpu, time] : times) worked.push_back({.rank = gpu.first, .device = gpu.second, .time = {time}});
    return worked;
}

Roof roofOf(const SessionInfo& session, bool device, const GpuShapes& shapes, const std::vector<GpuWork>& worked, const Machine* here) {
    if (session.kind == SessionKind::Trace) {
        if (device) return roofOfDevice(shapes, worked);
        return {.whyNone = "no roof: nobody has measured what the machine of this trace can do at most"};
    }
    if (here == nullptr) return {.whyNone = "no roof yet: the engine is starting"};
    if (!session.machine || !sameMachine(*session.machine, *here))
        return {.whyNone = "no roof: this ran on another machine, or with other processors; what is measured is of this one"};
    const std::int64_t threads = session.config ? session.config->threads : 0;
    const MachinePeaks peaks = knownPeaks(*here, {.device = device ? "cuda:0" : "cpu", .threads = threads});
    if (!std::isfinite(peaks.bytesPerSecond)) {
        if (device)
            if (Roof told = roofOfDevice(shapes, worked); told.known()) return told;
        return {.whyNone = "no roof yet: what this machine can do at most is measured by the page Diagnose, and by stepscope-cli bench"};
    }
    return {.float32 = orNothing(peaks.float32),
            .bf16 = orNothing(peaks.bf16),
            .fp16 = orNothing(peaks.fp16),
            .bytesPerSecond = peaks.bytesPerSecond,
            .source = "measured on this machine"};
}

}  // namespace stepscope
