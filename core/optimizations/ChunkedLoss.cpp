// chunked-loss: how many tokens' logits exist at a time.
#include "core/model/ChunkedLoss.h"

#include <fmt/format.h>

#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization chunkedLossSwitch() {
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
            .values = IntegerRange{0, 1'000'000'000},
            .byDefault = std::int64_t{0},
            .note = [](const Machine&, const RunConfig& config, const Value& value) -> std::string {
                if (config.word("fusion") != "step") return {};
                return fmt::format("chunked-loss={} does nothing beside fusion=step, which never holds all logits.", integer(value));
            },
            .install =
                [](ProgramBuilder& builder, const Value& value) {
                    if (integer(value) == 0) return;
                    builder.setLossOp(
                        [rows = integer(value)](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                                const LossSettings& settings) { return chunkedLoss(rows, hidden, head, targets, settings); });
                }};
}

}  // namespace stepscope
