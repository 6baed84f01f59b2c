#include "core/prediction/StepWork.h"

#include "core/base/AttentionWork.h"

namespace stepscope {

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
    const double momentBytes = plan.optimizer == OptimizerKind::EightBit ? 1 : 4;
    work.updateBytes = real(sizes.parameters) * (2 * 4 + 4 + 2 * 2 * momentBytes) / real(plan.momentShares);
    return work;
}

}  // namespace stepscope
