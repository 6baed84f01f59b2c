// AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019) in the implementations a Program can choose
// from: the same arithmetic up to rounding, in more or fewer passes over memory.
#pragma once
#include <functional>
#include <vector>

#include "core/kernels/adamw/AdamWStep.h"
#include "core/state/TrainState.h"

namespace stepscope {

struct AdamW {
    double rate = 0;
    double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0.1;
    std::int64_t t = 1;        // number of this update, from 1
    double gradientScale = 1;  // clipping's factor, for an optimizer that applies it itself (ProgramParts::normForOptimizer)
};

// Parameters, gradients and moments of one group; all lists have the same order. decay: whether weightDecay applies.
struct ParameterGroup {
    std::vector<at::Tensor> parameters, gradients, firstMoments, secondMoments;
    std::vector<at::Tensor> firstScales, secondScales;  // of 8-bit moments; empty otherwise
    std::vector<at::Tensor> lowWeights;  // bfloat16 copies to be written beside the weights, undefined where none is kept; empty: nowhere
    bool decays = false;
};

using OptimizerFunction = std::function<void(ParameterGroup&, const AdamW&)>;

void adamWLoop(ParameterGroup& group, const AdamW& settings);     // one tensor after the other, plain operations
void adamWForeach(ParameterGroup& group, const AdamW& settings);  // one operation over all tensors at a time
void adamWFused(ParameterGroup& group, const AdamW& settings);    // one pass, LibTorch's fused kernel

// The numbers of an update as the fused kernels take them.
AdamWStep adamWStep(const AdamW& settings, bool decays);

// Global L2 norm of all gradients as one 0-d tensor, without waiting for the device (C++ clip_grad_norm_ always waits).
at::Tensor globalNorm(const std::vector<ParameterGroup>& groups);
// Scales all gradients so that their global norm is at most maxNorm (Pascanu et al. 2013), as torch.nn.utils.clip_grad_norm_ does.
void clipByNorm(std::vector<ParameterGroup>& groups, const at::Tensor& norm, double maxNorm);

}  // namespace stepscope
