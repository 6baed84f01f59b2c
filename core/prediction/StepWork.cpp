#include "core/prediction/StepWork.h"

#include "core/base/AttentionWork.h"

namespace stepscope {
namespace {

constexpr double kFloatBytes = 4;

// Of each weight.
double bytesOfUpdate(OptimizerKind optimizer) {
    switch (optimizer) {
        case OptimizerKind::Loop:
        case OptimizerKind::Foreach:
            // Eight operations: the decay 2, the first moment 3, the second 2 and 3, its root 2, divided 2, epsilon 2, the step 4.
            return 20 * kFloatBytes;
        case OptimizerKind::Fused:
        case OptimizerKind::FusedWithClipping:
            return 7 * kFloatBytes;  // weight and both moments there and back, the gradient there
        case OptimizerKind::EightBit:
            return 3 * kFloatBytes + 2 * 2;
    }
    return 0;
}

double bytesOfClipping(const RunPlan& plan) {
    const bool scales = plan.maxNorm > 0 && plan.optimizer != OptimizerKind::FusedWithClipping;
    return scales ? 3 * kFloatBytes : kFloatBytes;
}

}  // namespace

StepWork stepWork(const RunPlan& plan, const ModelSizes& sizes) {
    const auto real = [](std::int64_t value) { return static_cast<double>(value); };
    const RunConfig& config = plan.config;
    const double width = real(config.width), layers = real(config.layers), context = real(plan.context);
    // Of one layer and token, all heads together.
    const auto attentionOf = [&](std::int64_t products) {
        return real(attention_work::flops(plan.context, plan.context, config.width, products, true)) / context;
    };
    StepWork work;
    work.tokens = real(plan.batchSize) * context * real(plan.accumulation);
    const double block = 2 * (4 * width * width + width * real(sizes.hiddenRows) + width * real(sizes.hidden));
    const double forward = attentionOf(attention_work::kForwardProducts), backward = attentionOf(attention_work::kBackwardProducts);
    const std::int64_t every = plan.recompute.everyKthBlock;
    const double again = every > 0 ? real((config.layers + every - 1) / every) : 0;
    work.head = 3 * 2 * width * real(sizes.vocabulary) * work.tokens;
    work.products = (3 * layers + again) * block * work.tokens + work.head;
    work.attention = (layers * (forward + backward) + (plan.recompute.attentionOnly ? layers : again) * forward) * work.tokens;
    work.updateBytes = real(sizes.parameters) * bytesOfUpdate(plan.optimizer) / real(plan.momentShares);
    work.clipBytes = real(sizes.parameters) * bytesOfClipping(plan);
    work.clearingBytes = plan.keepsGradients ? real(sizes.parameters) * 4 * kFloatBytes : 0;
    return work;
}

}  // namespace stepscope
