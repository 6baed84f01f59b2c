// fused-qkv: queries, keys and values as views of one product, whose gradients are joined without three padded copies. Refused where the
// model has three products instead of one (qkv=split): there it would run and change nothing.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

bool hasOneProjection(const RunConfig& config) {
    return config.qkv == "fused";
}

}  // namespace

Switch fusedQkv() {
    Switch entry = fusedSwitch({.id = "fused-qkv",
                                .title = "Fused QKV layout",
                                .why = "Queries, keys and values are three views of one matrix product. Backward joins their gradients in one pass, "
                                       "and with fused-attention in none, "
                                       "where autograd would fill three padded copies and add them.",
                                .cost = "None.",
                                .decides = "layout of the heads",
                                .choose = [](RunPlan& plan) { plan.fused.heads = hasOneProjection(plan.config); },
                                .install =
                                    [](ProgramBuilder& builder, const RunPlan& plan) {
                                        if (plan.fused.heads) builder.setHeadsOps({.split = fused::linearHeads});
                                    }});
    entry.applicable = [asEveryKernel = std::move(entry.applicable)](const Machine& machine, const RunConfig& config, const Value& value) {
        if (word(value) == "on" && !hasOneProjection(config))
            return Verdict::no(
                "fused-qkv needs the one projection of qkv=fused, and this model has qkv=split; choose auto or off, or begin a run with qkv=fused.");
        return asEveryKernel(machine, config, value);
    };
    entry.note = [asEveryKernel = std::move(entry.note)](const Machine& machine, const PlanDraft& draft, const Value& value) {
        if (word(value) == "off" && !hasOneProjection(draft.running())) return idleNote("fused-qkv=off does nothing beside qkv=split.");
        return asEveryKernel(machine, draft, value);
    };
    return entry;
}

}  // namespace stepscope
