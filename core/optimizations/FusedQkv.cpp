// fused-qkv: queries, keys and values as views of one product, whose gradients are joined without three padded copies. Refused where the
// model has three products instead of one (qkv=split): there it would run and change nothing.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

bool hasOneProjection(const RunConfig& config) {
    return config.qkv == "fused";
}

void fillHeads(ProgramBuilder& builder) {
    if (hasOneProjection(builder.config())) builder.setHeadsOps({.split = fused::linearHeads});
}

}  // namespace

Optimization fusedQkv() {
    Optimization entry = fusedSwitch("fused-qkv", "Fused QKV layout",
                                     "Queries, keys and values are three views of one matrix product. Backward joins their gradients in one pass, "
                                     "and with fused-attention in none, "
                                     "where autograd would fill three padded copies and add them.",
                                     "None.", "", "layout of the heads", fillHeads);
    entry.applicable = [asEveryKernel = std::move(entry.applicable)](const Machine& machine, const RunConfig& config, const Value& value) {
        if (word(value) == "on" && !hasOneProjection(config))
            return Verdict::no(
                "fused-qkv needs the one projection of qkv=fused, and this model has qkv=split; choose auto or off, or begin a run with qkv=fused.");
        return asEveryKernel(machine, config, value);
    };
    return entry;
}

}  // namespace stepscope
