// WeightsView: named tensors of a GPT over a flat buffer. No module owns a parameter, so every Program works on the same memory.
#pragma once
#include "core/model/ParameterLayout.h"

#include <vector>

namespace stepscope {

struct BlockWeights {
    at::Tensor norm1Weight, norm1Bias;   // (C)
    at::Tensor qkvWeight, qkvBias;       // (3C, C), (3C)
    at::Tensor projWeight, projBias;     // (C, C), (C)
    at::Tensor norm2Weight, norm2Bias;   // (C)
    at::Tensor fcWeight, fcBias;         // (4C, C), (4C)
    at::Tensor fcProjWeight, fcProjBias; // (C, 4C), (C)
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
