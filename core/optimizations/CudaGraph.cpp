// cuda-graph: a step captured into CUDA graphs and replayed, two launches instead of hundreds.
#include <fmt/format.h>

#include "core/optimizations/FusedSwitch.h"
#include "core/program/GraphProgram.h"

namespace stepscope {
namespace {

Verdict cudaGraphUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off") return Verdict::yes();
    if (machine.gpus.empty()) return Verdict::notHere("CUDA graphs are captured on NVIDIA GPUs, and there is none usable here.");
    if (onCpu(config)) return Verdict::no("this run is on the CPU, where there are no launches to save; choose a GPU as device.");
    if (config.word("fusion") != "kernels") return Verdict::no("only a step that never waits for the GPU can be captured; choose fusion=kernels.");
    if (config.word("amp") == "fp16") return Verdict::no("fp16's loss scaler decides after each step on the CPU; choose amp=bf16 or amp=off.");
    if (config.dropout > 0) return Verdict::no("a captured step cannot draw another dropout mask each time; set dropout to 0.");
    if (config.integer("chunked-loss") > 0)
        return Verdict::no("chunked-loss waits for the GPU, and fused-loss never holds all logits anyway; switch chunked-loss off.");
    if (config.word("zero") == "1")
        return Verdict::no("the captured update is of all weights, and zero=1 lets each worker update its own part; choose one of the two.");
    if (config.word("optimizer") != "fused" || !fusedOn(config, "fused-optimizer"))
        return Verdict::no(
            fmt::format("the captured update is that of fused-optimizer; choose optimizer=fused and fused-optimizer=auto instead of {} and {}.",
                        config.word("optimizer"), config.word("fused-optimizer")));
    return Verdict::yes();
}

}  // namespace

Switch cudaGraph() {
    return {.id = "cuda-graph",
            .title = "CUDA graph",
            .group = SwitchGroup::Kernels,
            .why =
                "Records a step's GPU launches once and replays them as two: forward and backward pass, then clipping and AdamW. A small batch then "
                "does not wait "
                "for the CPU to launch kernels; where a step cannot be captured, the run goes on without and says why.",
            .cost =
                "Three steps run before it is captured, and again at each change of size or switch. Forward time stands under backward. Tried on one "
                "model of GPU so far, an H200.",
            .reported = "small batches: up to 5×",
            .values = offOn(),
            .byDefault = "off",
            .applicable = cudaGraphUsable,
            .resolve =
                [](PlanDraft& draft, const Value& value) {
                    if (word(value) != "on") return;
                    draft.claim("program");
                    draft.plan.execution = Execution::Captured;
                },
            .install =
                [](ProgramBuilder& builder, const RunPlan& plan) {
                    if (plan.execution == Execution::Captured)
                        builder.setProgram(
                            [](ProgramParts parts) -> std::unique_ptr<StepProgram> { return std::make_unique<GraphProgram>(std::move(parts)); });
                },
            .racing = {.promise = 75}};
}

}  // namespace stepscope
