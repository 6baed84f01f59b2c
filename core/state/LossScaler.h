// LossScaler: dynamic loss scaling for fp16 (Micikevicius et al., "Mixed Precision Training", ICLR 2018): small gradients vanish in
// fp16, so backward runs on loss * scale and the gradients are divided by it. Used by Programs on the trainer thread; its state is
// part of the TrainState, so a resumed run and a rebuilt Program go on with the same scale.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace stepscope {

struct LossScale {
    double scale = 65536;         // a power of two: scaling is exact
    std::int64_t cleanSteps = 0;  // since the scale last moved

    bool operator==(const LossScale&) const = default;
};

constexpr double kLeastLossScale = 0x1p-14;  // below it not the scale but the gradients are at fault

// Divides every gradient by the scale, in place. False when one of them is infinite or no number.
bool unscale(const std::vector<at::Tensor>& gradients, double scale);

// After a step: halves the scale on an overflow, doubles it after `growthInterval` clean steps in a row.
void moveScale(LossScale& state, bool clean, std::int64_t growthInterval);

}  // namespace stepscope
