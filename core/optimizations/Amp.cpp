// amp: automatic mixed precision (Micikevicius et al., ICLR 2018): matrix products and attention in bf16, norms, softmax and the
// loss in float32, weights and optimizer in float32.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

Verdict usable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off" || config.word("device") == "cpu") return Verdict::yes();  // slow without bf16 units, but right
    for (const auto& gpu : machine.gpus)
        if (gpu.computeMajor < 8) return Verdict::no("bf16 needs an Ampere GPU (compute capability 8.0) or newer.");
    return Verdict::yes();
}

}  // namespace

Optimization amp() {
    return {.id = "amp",
            .title = "Mixed precision",
            .group = SwitchGroup::Precision,
            .why = "Runs matrix products and attention in bf16, which has float32's range with 8 bits of fraction: half the memory traffic and faster units. "
                   "Weights, optimizer, norms and loss stay float32, so no loss scaling is needed.",
            .cost = "Activations are rounded to 8 bits of fraction: the loss curve moves a little.",
            .reported = "333 → 300 ms; ×1.5–3; −40…50 % memory",
            .values = Choices{{"off", "bf16"}},
            .byDefault = "off",
            .applicable = usable,
            .install = [](ProgramBuilder& builder, const Value& value) {
                builder.setAutocast(word(value) == "off" ? std::nullopt : std::optional(at::kBFloat16));
            }};
}

}  // namespace stepscope
