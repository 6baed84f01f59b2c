// WeightsView: named tensors of a GPT over a flat buffer. No module owns a parameter, so every Program works on the same memory.
#pragma once
#include "core/model/ParameterLayout.h"

#include <array>
#include <vector>

namespace stepscope {

// What a configuration has not (biases, the position table, the last norm, ...) is an undefined tensor.
struct BlockWeights {
    at::Tensor norm1Weight, norm1Bias;    // (C)
    at::Tensor qkvWeight, qkvBias;        // (3C, C), (3C); undefined when split
    std::array<at::Tensor, 3> qkvWeights; // q, k, v: (C, C) each; undefined when fused
    std::array<at::Tensor, 3> qkvBiases;  // (C) each
    at::Tensor projWeight, projBias;      // (C, C), (C)
    at::Tensor norm2Weight, norm2Bias;    // (C)
    at::Tensor fcWeight, fcBias;          // (hiddenRows, C), (hiddenRows)
    at::Tensor fcProjWeight, fcProjBias;  // (C, hidden), (C)
};

struct WeightsView {
    at::Tensor tokens;     // (Vp, C)
    at::Tensor head;       // (Vp, C): tokens, when tied
    at::Tensor positions;  // (P, C)
    std::vector<BlockWeights> blocks;
    at::Tensor normWeight, normBias;  // (C)

    std::vector<at::Tensor> all;  // every parameter, in the order of the layout's slots

    // Views over `flat` (layout.size()). As autograd leaves each is detached and requires a gradient.
    static WeightsView over(const at::Tensor& flat, const ParameterLayout& layout, const GptConfig& config, bool asLeaves);
};

}  // namespace stepscope
