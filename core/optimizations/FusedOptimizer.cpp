// fused-optimizer: global norm in one pass over all gradients, clipping and AdamW in another.
#include "core/fused/Optimizer.h"
#include "core/optimizations/FusedSwitch.h"

#include <cmath>

namespace stepscope {
namespace {

void update(ParameterGroup& group, const AdamW& s) {
    const double first = 1 - std::pow(s.beta1, static_cast<double>(s.t)), second = 1 - std::pow(s.beta2, static_cast<double>(s.t));
    const AdamWStep step{.keep = static_cast<float>(1 - s.rate * (group.decays ? s.weightDecay : 0.0)),
                         .stepSize = static_cast<float>(s.rate / first),
                         .rootOfSecond = static_cast<float>(std::sqrt(second)),
                         .beta1 = static_cast<float>(s.beta1),
                         .beta2 = static_cast<float>(s.beta2),
                         .epsilon = static_cast<float>(s.epsilon),
                         .gradientScale = static_cast<float>(s.gradientScale)};
    fused::adamW(step, group.parameters, group.gradients, group.firstMoments, group.secondMoments);
}

double norm(const std::vector<ParameterGroup>& groups) {
    std::vector<at::Tensor> all;
    for (const auto& group : groups) all.insert(all.end(), group.gradients.begin(), group.gradients.end());
    return fused::globalNorm(all);
}

}  // namespace

Optimization fusedOptimizer() {
    return fusedSwitch("fused-optimizer", "Fused clip + AdamW",
                       "One pass over all gradients for their norm, then one that scales each gradient and updates weight and both moments. The plain form writes "
                       "every clipped gradient back to memory between the two.",
                       "None. It is used where optimizer=fused leaves the arithmetic as it is.", "5–15 % of the optimizer step", "optimizer",
                       [](ProgramBuilder& builder) { builder.setClippingOptimizer("fused clip + AdamW", update, norm); });
}

}  // namespace stepscope
