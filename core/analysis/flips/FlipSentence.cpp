#include "core/analysis/flips/FlipSentence.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/Format.h"

namespace stepscope {

std::string flipSentence(const FlipEffect& effect) {
    if (!effect.measured())
        return fmt::format("not measured: {} step{} before it and {} after, {} are needed", effect.stepsBefore, effect.stepsBefore == 1 ? "" : "s",
                           effect.stepsAfter, FlipEffect::kFewest);
    const Change &ms = effect.ms, &rate = effect.tokensPerSecond, &told = effect.told();
    std::string medians = fmt::format("step time {} → {}", format::milliseconds(ms.before.median), format::milliseconds(ms.after.median));
    if (effect.ofThroughput())
        medians += fmt::format(", throughput {} → {}", format::rate(rate.before.median, "tok/s"), format::rate(rate.after.median, "tok/s"));
    if (!effect.machineChange.empty()) return medians + ", not compared, for the machine changed: " + effect.machineChange;
    if (!told.conclusive()) return medians + ", inconclusive: " + effect.doubt(told);
    const double percent = 100 * (told.ratio() - 1);
    return medians + fmt::format(", {}{:.{}f} %", percent < 0 ? "−" : "+", std::abs(percent), std::abs(percent) < 10 ? 1 : 0);
}

}  // namespace stepscope
