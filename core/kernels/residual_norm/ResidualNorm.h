// Residual addition + LayerNorm or RMSNorm: the plain reference in double that every fast version is held against. Called by tests;
// any thread, no state. Arguments as in NormArguments.h.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope {

struct NormShape {
    std::int64_t columns = 0;
    float epsilon = 1e-5f;
    bool rms = false;  // RMSNorm: no mean is taken away
};

struct NormedRows {
    std::vector<float> sum, normed;  // (rows, columns)
    std::vector<float> mean, rstd;   // (rows); mean is 0 for RMSNorm
};
// delta and bias may be empty = none.
NormedRows residualNormForward(NormShape shape, std::span<const float> x, std::span<const float> delta, std::span<const float> weight,
                               std::span<const float> bias);

struct NormGradients {
    std::vector<float> sum;           // (rows, columns), gradResidual included
    std::vector<float> weight, bias;  // (columns)
};
// gradResidual may be empty = nothing.
NormGradients residualNormBackward(NormShape shape, std::span<const float> gradNormed, std::span<const float> sum, std::span<const float> weight,
                                   std::span<const float> gradResidual);

}  // namespace stepscope
