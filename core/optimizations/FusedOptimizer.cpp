// fused-optimizer: global norm in one pass over all gradients; clipping, AdamW and the low-precision copy of the weights in another.
#include "core/fused/Optimizer.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

fused::AdamWLists listsOf(const ParameterGroup& group) {
    return {group.parameters, group.gradients, group.firstMoments, group.secondMoments, group.lowWeights};
}

void update(ParameterGroup& group, const AdamW& s) {
    fused::adamW(adamWStep(s, group.decays), listsOf(group));
}

std::vector<at::Tensor> gradientsOf(const std::vector<ParameterGroup>& groups) {
    std::vector<at::Tensor> all;
    for (const auto& group : groups) all.insert(all.end(), group.gradients.begin(), group.gradients.end());
    return all;
}

double norm(const std::vector<ParameterGroup>& groups) {
    return fused::globalNorm(gradientsOf(groups));
}

const CapturedOptimizer kCaptured{
    .norm = [](const std::vector<ParameterGroup>& groups, const at::Tensor& norm) { fused::globalNormTo(norm, gradientsOf(groups)); },
    .update = [](ParameterGroup& group, const at::Tensor& step, const at::Tensor& norm,
                 double maxNorm) { fused::adamWFrom(step, norm, maxNorm, listsOf(group)); }};

}  // namespace

Switch fusedOptimizer() {
    return fusedSwitch({
        .id = "fused-optimizer",
        .title = "Fused clip + AdamW",
        .why = "One pass over all gradients for their norm, then one that scales each gradient, updates weight and both moments and, under amp=bf16, "
               "writes the copy that the next step's products read. The plain form writes clipped gradients back and casts the weights anew.",
        .cost = "The bf16 copy, 2 bytes a weight of the blocks' matrices, stays between steps. It is used where optimizer=fused leaves the "
                "arithmetic as it "
                "is.",
        .reported = "5–15 % of the optimizer step",
        .decides = "optimizer",
        .choose = [](RunPlan& plan) { plan.optimizer = OptimizerKind::FusedWithClipping; },
        .install =
            [](ProgramBuilder& builder, const RunPlan& plan) {
                if (plan.optimizer == OptimizerKind::FusedWithClipping) builder.setClippingOptimizer("fused clip + AdamW", update, norm, kCaptured);
            },
    });
}

}  // namespace stepscope
