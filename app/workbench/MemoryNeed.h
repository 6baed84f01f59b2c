// MemoryNeed: what a configuration is predicted to take, and whether its device has that much. Asked before a run (Engine) and before
// a flip (LiveRun, on the trainer thread).
#pragma once
#include "app/workbench/Workbench.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

// What of the data memory depends on: ids that can occur, and how many there are; 0 = not known before they are read.
struct DataIds {
    DataIds(std::int64_t below, std::int64_t count = 0) : vocabulary(below), tokens(count) {}
    std::int64_t vocabulary, tokens;
};

// plugin: who is asked what a GPU has free.
Workbench::Estimate estimateMemory(const Registry& registry, const RunPlan& plan, DataIds ids, const CudaPlugin& plugin = cudaPlugin());

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
Status checkMemoryOfFlip(const Registry& registry, const RunPlan& from, const RunPlan& to, DataIds ids, const CudaPlugin& plugin = cudaPlugin());

// Programs of both at once over one State, whose steps take turns.
Status checkMemoryOfTurns(const Registry& registry, const RunPlan& a, const RunPlan& b, DataIds ids, const CudaPlugin& plugin = cudaPlugin());

}  // namespace stepscope
