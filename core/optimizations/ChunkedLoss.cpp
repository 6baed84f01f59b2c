// chunked-loss: how many tokens' logits exist at a time.
#include "core/model/ChunkedLoss.h"

#include <fmt/format.h>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch chunkedLossSwitch() {
    return {.id = "chunked-loss",
            .title = "Chunked loss",
            .group = SwitchGroup::Memory,
            .why =
                "Computes the logits and the loss of this many tokens at a time, with their gradients, so that the logits of the whole batch never "
                "exist; 0 = all "
                "at once. With 50 257 ids they are the largest tensor of a small model. The head of fusion=step never holds them, whatever is chosen "
                "here.",
            .cost = "Smaller matrix products, which use the hardware less well, and one more buffer for the gradient of the head.",
            .reported = "large vocabularies",
            .values = IntegerRange{0, 1'000'000'000, {}, "off"},
            .byDefault = std::int64_t{0},
            .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
                const RunPlan& plan = draft.plan;
                const std::int64_t tokens = plan.batchSize * plan.context;
                if (plan.execution != Execution::Planned && integer(value) >= tokens)
                    return fmt::format("chunked-loss={} saves nothing here: a micro-batch has {} tokens, and all their logits exist at once.",
                                       integer(value), tokens);
                if (plan.execution != Execution::Planned) return {};
                return idleNote(fmt::format("chunked-loss={} does nothing beside fusion=step, which never holds all logits.", integer(value)));
            },
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    if (integer(value) == 0) return;
                    draft.claim("loss");
                    draft.plan.loss = LossKind::Chunked;
                    draft.plan.lossRows = integer(value);
                },
            .install =
                [](ProgramBuilder& builder, const RunPlan& plan) {
                    if (plan.loss != LossKind::Chunked) return;
                    builder.setLossOp(
                        [rows = plan.lossRows](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                               const LossSettings& settings) { return chunkedLoss(rows, hidden, head, targets, settings); });
                },
            .racing = {.promise = 20, .values = {"0", "512", "4096"}}};
}

}  // namespace stepscope
