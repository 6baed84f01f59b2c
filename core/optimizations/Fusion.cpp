// fusion: how much of the step is executed as own fused code: nothing, single operations under autograd, or the whole step planned ahead.
#include "core/optimizations/FusedSwitch.h"
#include "core/train/PlannedProgram.h"

#include <fmt/format.h>

namespace stepscope {
namespace {

Verdict usable(const Machine&, const RunConfig& config, const Value& value) {
    if (word(value) == "off") return Verdict::yes();
    if (word(value) == "kernels") return fusedKernelsUsable(config);
    if (config.word("device") != "cpu") return Verdict::no("fusion=step runs on the CPU; choose device=cpu.");
    if (config.word("amp") == "fp16") return Verdict::no("fusion=step computes in float32 or bf16; choose amp=bf16 or amp=off.");
    if (config.word("attention") != "auto")
        return Verdict::no(fmt::format("fusion=step has an attention of its own, and attention={} asks for another; choose attention=auto.", config.word("attention")));
    // What the planned step does not carry, by the keys of the model section.
    const std::pair<const char*, bool> others[] = {
        {"qkv=split", config.qkv == "split"}, {"activation=swiglu", config.activation == "swiglu"}, {"tied-head=off", config.tiedHead == "off"},
        {"norm-placement=post", config.normPlacement == "post"}, {"norm=rmsnorm", config.norm == "rmsnorm"}, {"positions=rope", config.positions == "rope"},
        {"bias=off", config.bias == "off"}, {"dropout", config.dropout > 0}, {"label-smoothing", config.labelSmoothing > 0}};
    for (const auto& [name, chosen] : others)
        if (chosen) return Verdict::no(fmt::format("fusion=step is written for the plain GPT-2 and does not carry {}.", name));
    if (config.word("optimizer") == "8-bit") return Verdict::no("fusion=step updates float32 moments; choose another optimizer than 8-bit.");
    if (config.word("checkpointing") != "off") return Verdict::no("fusion=step plans its buffers itself and recomputes nothing; switch checkpointing off.");
    if (config.integer("chunked-loss") > 0) return Verdict::no("fusion=step never holds all logits anyway; switch chunked-loss off.");
    return Verdict::yes();
}

}  // namespace

Optimization fusion() {
    return {.id = "fusion",
            .title = "Fusion",
            .group = SwitchGroup::Kernels,
            .why = "\"kernels\" replaces chains of small operations by our own, one pass over memory forwards and one backwards, under autograd; the fused-… switches "
                   "switch each alone. \"step\" plans the whole step ahead, as torch.compile does: every buffer is allocated once, forward and backward passes are one hand-written program "
                   "whose intermediate results stay in the processor's caches, and no autograd graph is built.",
            .cost = "Sums are taken in another order: results differ by rounding. \"step\" also packs all weights first. On a GPU there is \"kernels\", whose CUDA forms "
                    "have not yet run on a real one.",
            .reported = "300 → 130 ms; forward kernels ~434 → ~109 (−75 %): embedding 2→1, norms 96→24, attention 240→60, MLP 96→24; 1.1–3x",
            .values = Choices{{"off", "kernels", "step"}},
            .byDefault = "off",
            .applicable = usable,
            .install = [](ProgramBuilder& builder, const Value& value) {
                if (word(value) == "step")
                    builder.setProgram([](ProgramParts parts) -> std::unique_ptr<StepProgram> { return std::make_unique<PlannedProgram>(std::move(parts)); });
            }};
}

}  // namespace stepscope
