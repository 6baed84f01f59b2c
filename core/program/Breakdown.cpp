#include "core/program/Breakdown.h"

#include <fmt/format.h>

#include <cmath>

namespace stepscope {
namespace {

constexpr double kRisen = 1.2;  // a loss this far above its lowest was on its way up

std::string cause(const BreakdownFacts& facts) {
    if (!facts.stateIsFinite) return "weights or moments hold values that are no numbers (an update broke them, or they were loaded so)";
    if (facts.kind == Breakdown::Gradients && facts.fp16)
        return "the gradients overflow in fp16 even at the lowest loss scale; bf16 (amp) has float32's range";
    if (facts.kind == Breakdown::Loss && facts.fp16)
        return "a value beyond fp16's 65504 is likely, for no loss scale helps the forward pass; bf16 (amp) has float32's range";
    if (std::isfinite(facts.lossBefore) && std::isfinite(facts.lowestLoss) && facts.lossBefore > kRisen * facts.lowestLoss)
        return fmt::format("{} had risen from {:.4g} to {:.4g} already, so the learning rate {:.3g} is too high",
                           facts.kind == Breakdown::Loss ? "it" : "the loss", facts.lowestLoss, facts.lossBefore, facts.rate);
    return fmt::format("the learning rate {:.3g} is probably too high", facts.rate);
}

std::string what(const BreakdownFacts& facts) {
    switch (facts.kind) {
        case Breakdown::State:
            return fmt::format("Weights or moments are not numbers after step {}", facts.step);
        case Breakdown::Gradients:
            return fmt::format("A gradient is not a number at step {}", facts.step);
        default:
            return fmt::format("The loss is not a number at step {}", facts.step);
    }
}

}  // namespace

std::string breakdownSentence(const BreakdownFacts& facts) {
    std::string text = fmt::format("{}: {}{}", what(facts), cause(facts), facts.clips ? "" : ", and clipping is off (grad-clip)");
    // Before a step that broke the State there were good weights too, but they are gone: only a checkpoint has them. Weights that are numbers and
    // give no loss were broken by the update before: only in fp16 another precision may still give one.
    const bool lossInFp16 = facts.kind == Breakdown::Loss && facts.fp16 && facts.stateIsFinite;
    const std::string kept = facts.kept.empty() ? "" : fmt::format(" (kept in {})", facts.kept);
    if (facts.stateIsFinite && facts.kind == Breakdown::Gradients) text += fmt::format("; the weights are those of step {}{}", facts.step - 1, kept);
    if (facts.stateIsFinite && facts.kind == Breakdown::Loss)
        text +=
            fmt::format("; the weights of step {}{} hold numbers, but give no loss{}", facts.step - 1, kept, facts.fp16 ? " in fp16" : " any more");
    if (lossInFp16 && !facts.kept.empty()) return text + fmt::format(": resume from {} with amp=bf16.", facts.kept);
    if (!facts.checkpoint.empty()) return text + fmt::format(": resume from {} with a lower lr.", facts.checkpoint);
    if (facts.kind == Breakdown::State) return text + "; no checkpoint was made before it: start again with a lower lr.";
    return text + "; start again with a lower lr, and with checkpoint-every to have something to go back to.";
}

}  // namespace stepscope
