// fusion: how much of the step is executed as own fused code: nothing, single operations under autograd, or the whole step planned ahead.
#include <fmt/format.h>

#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"
#include "core/program/PlannedProgram.h"

namespace stepscope {
namespace {

Verdict fusionUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off") return Verdict::yes();
    if (auto can = needsAmpere(machine, config, "a kernel of our own"); !can.usable) return can;
    // On a GPU step is kernels: fallback() below.
    if (word(value) == "kernels" || !onCpu(config)) return fusedKernelsUsable(config);
    if (config.word("amp") == "fp16") return Verdict::no("fusion=step computes in float32 or bf16; choose amp=bf16 or amp=off.");
    return Verdict::yes();
}

// The planned step runs on the CPU, has an attention and float32 products of its own and keeps what backward needs: where another switch asks for
// something else, single kernels run, which can give it.
std::optional<Fallback> fallback(const RunConfig& config, const Value& value) {
    if (word(value) != "step") return std::nullopt;
    for (const auto& [id, carried] :
         {std::pair<const char*, const char*>{"device", "cpu"}, {"attention", "auto"}, {"checkpointing", "off"}, {"matmul-precision", "highest"}})
        if (config.word(id) != carried)
            return Fallback{std::string("kernels"), fmt::format("fusion=step does not carry {}={}: fusion=kernels is used.", id, config.word(id))};
    return std::nullopt;
}

void fusionResolve(PlanDraft& draft, const Value& value) {
    // The linears that no fused-* switch has; what is won on LibTorch's is won on a GPU.
    if (word(value) == "kernels") draft.plan.fused.linear = fusedKernelsUsable(draft.running()).usable;
    if (word(value) != "step") return;
    draft.claim("program");
    draft.plan.execution = Execution::Planned;
}

}  // namespace

Switch fusion() {
    return {.id = "fusion",
            .title = "Fusion",
            .group = SwitchGroup::Kernels,
            .why =
                "\"kernels\" replaces chains of small operations by our own, one pass over memory forwards and one backwards, under autograd; the "
                "fused-… switches "
                "switch each alone. \"step\" plans the whole step ahead, as torch.compile does: every buffer is allocated once, forward and backward "
                "passes are one hand-written program "
                "whose intermediate results stay in the processor's caches, and no autograd graph is built.",
            .cost =
                "Sums are taken in another order: results differ by rounding. The first step also packs all weights. \"step\" has one attention, "
                "rounds no "
                "float32 product and recomputes nothing: beside another choice of attention, matmul-precision or checkpointing, and on a GPU, "
                "\"kernels\" is "
                "used, and the run says so. Its CUDA forms were tried on one model of GPU so far, an H200.",
            .reported = "300 → 130 ms; forward kernels ~434 → ~109 (−75 %): embedding 2→1, norms 96→24, attention 240→60, MLP 96→24; 1.1–3x",
            .values = Choices{{"off", "kernels", "step"}},
            .byDefault = "off",
            .applicable = fusionUsable,
            .fallback = fallback,
            .resolve = fusionResolve,
            .install =
                [](ProgramBuilder& builder, const RunPlan& plan) {
                    if (plan.fused.linear) builder.setLinearOp(fused::linear);
                    if (plan.execution == Execution::Planned)
                        builder.setProgram(
                            [](ProgramParts parts) -> std::unique_ptr<StepProgram> { return std::make_unique<PlannedProgram>(std::move(parts)); });
                },
            .racing = {.promise = 100}};
}

}  // namespace stepscope
