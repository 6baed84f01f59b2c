#include "core/analysis/flips/FlipSentence.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/Format.h"

namespace stepscope {

std::string flipSentence(const FlipEffect& effect) {
    if (!effect.measured())
        return fmt::format("not measured: {} step{} before it and {} after, {} are needed", effect.stepsBefore, effect.stepsBefore == 1 ? "" : "s",
                           effect.stepsAfter, FlipEffect::kFewest);
    const Change& ms = effect.ms;
    const std::string medians = fmt::format("step time {} → {}", format::milliseconds(ms.before.median), format::milliseconds(ms.after.median));
    if (!effect.machineChange.empty()) return medians + ", not compared, for the machine changed: " + effect.machineChange;
    if (!ms.conclusive()) return medians + ", inconclusive: " + effect.doubt(ms);
    const double percent = 100 * (ms.ratio() - 1);
    return medians + fmt::format(", {}{:.{}f} %", percent < 0 ? "−" : "+", std::abs(percent), std::abs(percent) < 10 ? 1 : 0);
}

}  // namespace stepscope
