// AdamW over flat buffers: the plain reference in double that the fast version is held against. Called by tests; any thread, no state.
#pragma once
#include <span>

#include "core/kernels/adamw/AdamWCpu.h"

namespace stepscope {

double sumOfSquares(std::span<const float> g);
void adamWUpdate(AdamWStep step, std::span<const float> g, std::span<float> weights, std::span<float> first, std::span<float> second);

}  // namespace stepscope
