// Causal attention of one head: the plain reference in double, with the whole table of scores, that every fast version is held against
// (Vaswani et al. 2017, equation 1). Called by tests; any thread, no state. All matrices are (T, D), row-major.
#pragma once
#include <span>
#include <vector>

#include "core/kernels/attention/AttentionCpu.h"

namespace stepscope {

std::vector<float> causalAttention(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::span<const float> v);

struct AttentionGradients {
    std::vector<float> q, k, v;
};
AttentionGradients causalAttentionBackward(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::span<const float> v,
                                           std::span<const float> gradOut);

}  // namespace stepscope
