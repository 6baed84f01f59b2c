// optimizer: which AdamW runs: plain loop, foreach, LibTorch's fused kernel (the same arithmetic up to rounding), or 8-bit moments.
#include "core/optimizations/FusedSwitch.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

struct Implementation {
    const char* name;
    OptimizerKind kind;
    void (*update)(ParameterGroup&, const AdamW&);
};
constexpr Implementation kImplementations[] = {{"loop", OptimizerKind::Loop, adamWLoop},
                                               {"foreach", OptimizerKind::Foreach, adamWForeach},
                                               {"fused", OptimizerKind::Fused, adamWFused},
                                               {"8-bit", OptimizerKind::EightBit, adamWEightBit}};

void optimizerResolve(PlanDraft& draft, const Value& value) {
    for (const Implementation& one : kImplementations) {
        if (word(value) != one.name) continue;
        draft.plan.optimizer = one.kind;
        // The default gives way to our own pass, which is the same arithmetic; another choice is a second claim.
        if (one.kind != OptimizerKind::Fused || !fusedOn(draft.running(), "fused-optimizer")) draft.claim("optimizer");
    }
}

void optimizerInstall(ProgramBuilder& builder, const RunPlan& plan) {
    for (const Implementation& one : kImplementations)
        if (plan.optimizer == one.kind) builder.setOptimizer(one.name, one.update);
}

}  // namespace

Switch optimizer() {
    return {
        .id = "optimizer",
        .title = "AdamW implementation",
        .group = SwitchGroup::Optimizer,
        .why =
            "\"loop\" updates one tensor after the other with a dozen operations each, \"foreach\" runs each operation over all tensors, \"fused\" "
            "does "
            "everything in one pass over memory. \"8-bit\" keeps both moments in a byte a value, with a scale for every 256 (Dettmers et al. 2022).",
        .cost =
            "The first three are the same arithmetic up to rounding. 8-bit moments need a quarter of the memory and round: the loss may move by up "
            "to 1 %. "
            "On a GPU a kernel of ours updates them, which was tried on one model so far, an H200.",
        .reported = "5–15 % of the optimizer step",
        .values = Choices{{"loop", "foreach", "fused", "8-bit"}},
        .byDefault = "fused",
        .applicable =
            [](const Machine& machine, const RunConfig& config, const Value& value) {
                return word(value) == "8-bit" ? needsAmpere(machine, config, "the kernel for 8-bit moments") : Verdict::yes();
            },
        .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> std::string {
            if (word(value) != "foreach" || draft.plan.onGpu()) return {};
            return "optimizer=foreach takes one tensor after the other on a CPU, as loop does: LibTorch's kernels over lists of tensors are for "
                   "GPUs.";
        },
        .resolve = optimizerResolve,
        .install = optimizerInstall,
        // Moments of 8 bits are another State, and what is learnt differs by more than rounding: a person chooses them.
        .racing = {.promise = 70, .values = {"loop", "foreach", "fused"}}};
}

}  // namespace stepscope
