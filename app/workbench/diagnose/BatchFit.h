// How large a micro-batch fits, as predicted: memory grows with it, so the largest is found by halving. Any thread.
#pragma once
#include "app/workbench/MemoryNeed.h"
#include "app/workbench/Workbench.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

constexpr double kMemoryMargin = 0.10;  // of what is available stays free

// 0 where not even one sequence fits; at most `most`.
std::int64_t largestBatchThatFits(const Registry& registry, RunPlan plan, DataIds ids, std::int64_t most, double margin = kMemoryMargin);

}  // namespace stepscope
