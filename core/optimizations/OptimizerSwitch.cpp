// optimizer: which AdamW runs: plain loop, foreach, LibTorch's fused kernel (the same arithmetic up to rounding), or 8-bit moments.
#include <fmt/format.h>

#include "core/optimizations/FusedSwitch.h"
#include "core/train/EightBitMoments.h"

namespace stepscope {
namespace {

std::string convertMoments(TrainState& state, const Value& value) {
    if (word(value) != "8-bit") {
        toFloat(state);
        return {};
    }
    const double error = toEightBit(state);
    return error > 0 ? fmt::format("rounding the moments to 8 bits moved them by {:.2g} %", 100 * error) : std::string();
}

void install(ProgramBuilder& builder, const Value& value) {
    const std::string& name = word(value);
    if (name == "8-bit") return builder.setOptimizer(name, adamWEightBit, ProgramBuilder::Moments::EightBit);
    // The default gives way to our own pass, which is the same arithmetic; another choice is a second claim.
    if (name == "fused" && fusedOn(builder.config(), "fused-optimizer")) return;
    builder.setOptimizer(name, name == "loop" ? adamWLoop : name == "foreach" ? adamWForeach : adamWFused);
}

}  // namespace

Optimization optimizer() {
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
            "On a GPU a kernel of ours updates them, which has not yet run on a real one.",
        .reported = "5–15 % of the optimizer step",
        .values = Choices{{"loop", "foreach", "fused", "8-bit"}},
        .byDefault = "fused",
        .convert = convertMoments,
        .install = install};
}

}  // namespace stepscope
