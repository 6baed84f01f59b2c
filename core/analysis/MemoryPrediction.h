// What a run will need at its peak, by kind, before it starts. Torch-free. Upper estimates of what eager execution keeps.
#pragma once
#include "core/base/Units.h"
#include "core/events/RunConfig.h"

namespace stepscope {

struct MemoryPrediction {
    Bytes weights, gradients, moments, activations, logits;
    Bytes total() const { return {weights.count + gradients.count + moments.count + activations.count + logits.count}; }
};

// config: complete (every switch has a value). vocabulary: rows of the embedding. Saturates instead of overflowing.
MemoryPrediction predictMemory(const RunConfig& config, std::int64_t vocabulary);

}  // namespace stepscope
