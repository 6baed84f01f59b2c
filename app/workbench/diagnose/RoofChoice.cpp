#include "app/workbench/diagnose/RoofChoice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/workbench/diagnose/PeakMeter.h"

namespace stepscope {
namespace {

// Of unlike GPUs none is right for the kernels of all: which of them ran a kernel is not known where roofs are laid over kernels by name.
Roof roofOfDevice(const std::map<std::int64_t, GpuShape>& shapes) {
    const auto equal = [](const GpuShape& a, const GpuShape& b) { return a.bytesPerSecond == b.bytesPerSecond && a.float32 == b.float32; };
    const auto known = std::ranges::find_if(shapes, [](const auto& one) { return one.second.bytesPerSecond > 0; });
    if (known == shapes.end()) return {.whyNone = "no roof: the trace does not say how fast its GPU computes and how fast its memory is"};
    const auto& [number, first] = *known;
    for (const auto& [other, shape] : shapes)
        if (shape.bytesPerSecond > 0 && !equal(first, shape)) return {.whyNone = "no roof: the trace has unlike GPUs"};
    return {.float32 = first.float32, .bytesPerSecond = first.bytesPerSecond, .source = fmt::format("of GPU {} by its clocks, not measured", number)};
}

bool sameMachine(const Machine& a, const Machine& b) {
    return a.cpu == b.cpu && a.cores == b.cores && a.instructions == b.instructions && a.gpus == b.gpus;
}

double orNothing(double measured) {
    return std::isfinite(measured) ? measured : 0;
}

}  // namespace

Roof roofOf(const SessionInfo& session, bool device, const std::map<std::int64_t, GpuShape>& shapes, const Machine* here) {
    if (session.kind == SessionKind::Trace) {
        if (device) return roofOfDevice(shapes);
        return {.whyNone = "no roof: nobody has measured what the machine of this trace can do at most"};
    }
    if (here == nullptr) return {.whyNone = "no roof yet: the engine is starting"};
    if (!session.machine || !sameMachine(*session.machine, *here))
        return {.whyNone = "no roof: this ran on another machine, or with other processors; what is measured is of this one"};
    const std::int64_t threads = session.config ? session.config->threads : 0;
    const MachinePeaks peaks = knownPeaks(*here, {.device = device ? "cuda:0" : "cpu", .threads = threads});
    if (!std::isfinite(peaks.bytesPerSecond)) {
        if (device)
            if (Roof told = roofOfDevice(shapes); told.known()) return told;
        return {.whyNone = "no roof yet: what this machine can do at most is measured by the page Diagnose, and by stepscope-cli bench"};
    }
    return {.float32 = orNothing(peaks.float32),
            .bf16 = orNothing(peaks.bf16),
            .fp16 = orNothing(peaks.fp16),
            .bytesPerSecond = peaks.bytesPerSecond,
            .source = "measured on this machine"};
}

}  // namespace stepscope
