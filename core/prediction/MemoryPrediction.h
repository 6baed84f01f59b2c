// What a run will need at its peak, by kind, before it starts: one step is played through on paper (EagerMemory), so that it is known
// what is there at the worst moment and what is not. Torch-free; cheap enough for every edit of a setting; any thread.
#pragma once
#include <array>
#include <string>

#include "core/base/Units.h"
#include "core/events/RunPlan.h"
#include "core/prediction/AllocationTrace.h"
#include "core/prediction/EagerMemory.h"

namespace stepscope {

struct MemoryPrediction {
    std::array<Bytes, kMemoryKinds> byKind;  // what tensors hold at the worst moment of a step
    Bytes tensors;                           // their sum: the most live bytes of the allocator
    Bytes kept;                              // what the allocator has from the system beyond that; on a GPU not predicted

    Bytes total() const { return {tensors.count + kept.count}; }
    Bytes of(MemoryKind kind) const { return byKind[static_cast<std::size_t>(kind)]; }
};

// Saturates instead of overflowing.
MemoryPrediction predictMemory(const RunPlan& plan, const ModelSizes& sizes);

// "weights 1.2 MB, logits and loss 40 MB, ...": the largest first, what is under a hundredth of it left out.
std::string describeParts(const MemoryPrediction& predicted);

}  // namespace stepscope
