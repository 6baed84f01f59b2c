// WeightsView: named tensors of a GPT over a flat buffer. No module owns a parameter, so every Program works on the same memory.
#pragma once
#include <array>
#include <vector>

#include "core/model/ParameterLayout.h"
#include "core/model/Weight.h"

namespace stepscope {

// What a configuration has not (biases, the position table, the last norm, ...) is an undefined tensor.
struct BlockWeights {
    at::Tensor norm1Weight, norm1Bias;  // (C)
    Weight qkvWeight, qkvBias;          // (3C, C), (3C); undefined when split
    std::array<Weight, 3> qkvWeights;   // q, k, v: (C, C) each; undefined when fused
    std::array<Weight, 3> qkvBiases;    // (C) each
    Weight projWeight, projBias;        // (C, C), (C)
    at::Tensor norm2Weight, norm2Bias;  // (C)
    Weight fcWeight, fcBias;            // (hiddenRows, C), (hiddenRows)
    Weight fcProjWeight, fcProjBias;    // (C, hidden), (C)

    // Of its linears, with those that are undefined.
    std::vector<Weight*> linears();
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
