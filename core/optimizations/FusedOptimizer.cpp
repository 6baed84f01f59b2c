// fused-optimizer: global norm in one pass over all gradients, clipping and AdamW in another.
#include "core/fused/Optimizer.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

void update(ParameterGroup& group, const AdamW& s) {
    fused::adamW(adamWStep(s, group.decays), group.parameters, group.gradients, group.firstMoments, group.secondMoments);
}

std::vector<at::Tensor> gradientsOf(const std::vector<ParameterGroup>& groups) {
    std::vector<at::Tensor> all;
    for (const auto& group : groups) all.insert(all.end(), group.gradients.begin(), group.gradients.end());
    return all;
}

double norm(const std::vector<ParameterGroup>& groups) { return fused::globalNorm(gradientsOf(groups)); }

const CapturedOptimizer kCaptured{
    .norm = [](const std::vector<ParameterGroup>& groups, const at::Tensor& norm) { fused::globalNormTo(norm, gradientsOf(groups)); },
    .update = [](ParameterGroup& group, const at::Tensor& step, const at::Tensor& norm,
                 double maxNorm) { fused::adamWFrom(step, norm, maxNorm, group.parameters, group.gradients, group.firstMoments, group.secondMoments); }};

}  // namespace

Optimization fusedOptimizer() {
    return fusedSwitch("fused-optimizer", "Fused clip + AdamW",
                       "One pass over all gradients for their norm, then one that scales each gradient and updates weight and both moments. The plain form writes "
                       "every clipped gradient back to memory between the two.",
                       "None. It is used where optimizer=fused leaves the arithmetic as it is.", "5–15 % of the optimizer step", "optimizer",
                       [](ProgramBuilder& builder) { builder.setClippingOptimizer("fused clip + AdamW", update, norm, kCaptured); });
}

}  // namespace stepscope
