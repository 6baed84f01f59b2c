// What the two ways of taking turns (Comparison, InRunExperiment) share about instances of Programs: where they come to lie in memory, and what
// energy the machine that runs them uses. Trainer thread.
#pragma once
#include <ATen/ops/empty.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/CounterRandom.h"
#include "core/base/Units.h"
#include "core/events/RunPlan.h"
#include "core/profile/EnergyCounter.h"

namespace stepscope {

// Held while instances are made and live: it moves their addresses, which an allocator would hand out again as they were.
inline at::Tensor ballastOf(std::uint64_t seed, std::uint64_t build) {
    constexpr std::int64_t kMost = 4 << 20;  // bytes
    return at::empty({static_cast<std::int64_t>(counterRandomBelow(seed, 0x62616c6c, build, kMost)) + 1}, at::kByte);
}

// Of the processors and of the GPUs that either of them is on: a side that leaves a GPU idle still has it in the machine.
inline EnergyCounter energyOf(const RunPlan& a, const RunPlan& b) {
    std::vector<int> gpus;
    for (const RunPlan* plan : {&a, &b})
        if (plan->gpu) gpus.push_back(*plan->gpu);
    return EnergyCounter(gpusEnergy(std::move(gpus)));
}

// A run does not wait for NVML between its steps, so that on a GPU it is unknown.
inline EnergyCounter energyWithinARun(const RunPlan& a, const RunPlan& b) {
    std::vector<EnergyCounter::Gpu> gpus;
    if (a.onGpu() || b.onGpu()) gpus.emplace_back([] { return std::optional<double>(); });
    return EnergyCounter(std::move(gpus));
}

inline double joulesBetween(const EnergyReading& begin, const EnergyReading& end) {
    const auto before = begin.joules(), after = end.joules();
    return before && after ? *after - *before : kUnknown;
}

}  // namespace stepscope
