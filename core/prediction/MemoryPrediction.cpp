#include "core/prediction/MemoryPrediction.h"

#include <algorithm>
#include <vector>

#include "core/base/Format.h"
#include "core/prediction/PlannedMemory.h"

namespace stepscope {
namespace {

Bytes saturated(double bytes) {
    return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, 4e18))};
}

}  // namespace

MemoryPrediction predictMemory(const RunPlan& plan, const ModelSizes& sizes) {
    AllocationTrace trace(plan.onGpu() || plan.hostMemory == HostMemory::Caching);
    if (plan.execution == Execution::Planned)
        playPlannedStep(plan, sizes, trace);
    else
        EagerMemory(plan, sizes, trace).run();
    MemoryPrediction predicted;
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind) predicted.byKind[kind] = saturated(trace.atPeak()[kind]);
    predicted.tensors = saturated(trace.peak());
    // LibTorch's allocator on a GPU rounds to 512 bytes, cuts and joins what was freed, so that it serves blocks of any size, and gives it back
    // before it refuses one (c10/core/AllocatorConfig.h, c10/cuda/CUDACachingAllocator.cpp). What cannot be joined is not predicted.
    if (!plan.onGpu()) predicted.kept = saturated(trace.held() - trace.peak());
    return predicted;
}

std::string describeParts(const MemoryPrediction& predicted) {
    std::vector<std::pair<Bytes, std::string>> parts{{predicted.kept, "kept by the allocator"}};
    for (std::size_t kind = 0; kind < kMemoryKinds; ++kind) parts.emplace_back(predicted.byKind[kind], toString(static_cast<MemoryKind>(kind)));
    std::ranges::sort(parts, std::greater{}, &std::pair<Bytes, std::string>::first);
    std::string text;
    for (const auto& [bytes, name] : parts)
        if (bytes.count > 0 && bytes.count >= predicted.total().count / 100) text += (text.empty() ? "" : ", ") + name + " " + format::bytes(bytes);
    return text;
}

}  // namespace stepscope
