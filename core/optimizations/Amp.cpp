// amp: automatic mixed precision (Micikevicius et al., ICLR 2018): matrix products and attention in bf16 or fp16, norms, softmax and
// the loss in float32, weights and optimizer in float32. fp16 comes with a dynamic loss scaler.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

Verdict usable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off" || config.word("device") == "cpu") return Verdict::yes();  // slow without bf16 units, but right
    if (word(value) == "fp16") return Verdict::yes();  // every GPU since Volta
    return needsAmpere(machine, config, "bf16");
}

}  // namespace

Optimization amp() {
    return {.id = "amp",
            .title = "Mixed precision",
            .group = SwitchGroup::Precision,
            .why = "Runs matrix products and attention in 16 bits: half the memory traffic and faster units; weights, optimizer, norms and loss stay float32. bf16 has "
                   "float32's range; fp16 has 3 bits more of fraction but ends at 65504, so the loss is scaled up and a step that overflows is left out.",
            .cost = "Activations are rounded to 8 (bf16) or 11 (fp16) bits: the loss curve moves a little. On a CPU without fp16 arithmetic, fp16 takes many times as long as bf16.",
            .reported = "333 → 300 ms; ×1.5–3; −40…50 % memory",
            .values = Choices{{"off", "bf16", "fp16"}},
            .byDefault = "off",
            .applicable = usable,
            .install = [](ProgramBuilder& builder, const Value& value) {
                builder.setAutocast(word(value) == "off" ? std::nullopt : std::optional(word(value) == "fp16" ? at::kHalf : at::kBFloat16));
            }};
}

}  // namespace stepscope
