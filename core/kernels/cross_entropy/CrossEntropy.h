// Softmax cross-entropy and its gradient: the plain reference in double that every fast version is held against. Called by tests; any
// thread, no state. Arguments as in CrossEntropyCpu.h.
#pragma once
#include "core/kernels/cross_entropy/CrossEntropyCpu.h"

#include <span>

namespace stepscope {

void crossEntropyRows(CrossEntropyShape shape, std::span<const float> logits, std::span<const std::int64_t> targets, std::span<float> losses,
                      std::span<float> gradient);

}  // namespace stepscope
