// See Breakdown.h.
#include "core/train/Breakdown.h"

#include <cmath>
#include <fmt/format.h>

namespace stepscope {
namespace {

constexpr double kRisen = 1.2;  // a loss this far above its lowest was on its way up

std::string cause(const BreakdownFacts& facts) {
    if (!facts.weightsAreFinite) return "the weights hold values that are no numbers (an update broke them, or they were loaded so)";
    if (facts.kind == Breakdown::Gradients && facts.fp16)
        return "the gradients overflow in fp16 even at the lowest loss scale; bf16 (amp) has float32's range";
    if (facts.fp16) return "a value beyond fp16's 65504 is likely, for no loss scale helps the forward pass; bf16 (amp) has float32's range";
    if (std::isfinite(facts.lossBefore) && std::isfinite(facts.lowestLoss) && facts.lossBefore > kRisen * facts.lowestLoss)
        return fmt::format("it had risen from {:.4g} to {:.4g} already, so the learning rate {:.3g} is too high", facts.lowestLoss, facts.lossBefore, facts.rate);
    return fmt::format("the learning rate {:.3g} is probably too high", facts.rate);
}

}  // namespace

std::string breakdownSentence(const BreakdownFacts& facts) {
    const char* what = facts.kind == Breakdown::Gradients ? "A gradient is not a number" : "The loss is not a number";
    std::string text = fmt::format("{} at step {}: {}{}", what, facts.step, cause(facts), facts.clips ? "" : ", and clipping is off (grad-clip)");
    text += facts.weightsAreFinite ? fmt::format("; the weights of step {} are unharmed", facts.step - 1) : std::string();
    if (!facts.checkpoint.empty()) return text + fmt::format(": resume from {} with a lower lr.", facts.checkpoint);
    return text + "; start again with a lower lr, and with checkpoint-every to have something to go back to.";
}

}  // namespace stepscope
