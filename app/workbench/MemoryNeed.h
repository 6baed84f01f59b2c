// MemoryNeed: what a configuration is predicted to take, and whether its device has that much. Asked before a run (Engine) and before
// a flip (LiveRun, on the trainer thread).
#pragma once
#include "app/workbench/Workbench.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

// vocabulary: ids that can occur. plugin: who is asked what a GPU has free.
Workbench::Estimate estimateMemory(const Registry& registry, const RunPlan& plan, std::int64_t vocabulary, const CudaPlugin& plugin = cudaPlugin());

// On another machine, where nobody here can ask what is free: of all that the registry's machine has.
Workbench::Estimate estimateMemoryElsewhere(const Registry& registry, const RunPlan& plan, std::int64_t vocabulary);

// What is expected of a run, to be said when it begins and compared when it has ended.
struct RunForecast {
    Bytes peakMemory;
    Bytes tensors;
    std::string sentence;
};
RunForecast forecastOf(const Workbench::Estimate& needed);

Status checkMemory(const RunPlan& plan, const Workbench::Estimate& needed);

// A flip to what needs less on the same device is never refused, whatever is predicted of the run that is under way.
Status checkMemoryOfFlip(const Registry& registry, const RunPlan& from, const RunPlan& to, std::int64_t vocabulary,
                         const CudaPlugin& plugin = cudaPlugin());

// Programs of both at once over one State, whose steps take turns.
Status checkMemoryOfTurns(const Registry& registry, const RunPlan& a, const RunPlan& b, std::int64_t vocabulary,
                          const CudaPlugin& plugin = cudaPlugin());

}  // namespace stepscope
