// How the answers of MeasureForms are said, in the window and on the command line.
#include <fmt/format.h>

#include <cmath>

#include "app/workbench/inference/MeasureForms.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"

namespace stepscope {

// Those that core/inference knows, which a test holds against this list: whoever shows them sees nothing of LibTorch.
std::vector<std::string> allForms() {
    return {"f32", "bf16", "int8", "int4", "int8-dynamic"};
}

std::vector<std::string> allPrunings() {
    std::vector<std::string> names;
    for (const double share : kPrunedShares) names.push_back(format::percent(share));
    names.emplace_back(kPrunedPattern);
    return names;
}

std::string speedWords(const FormSpeed& speed, double delta) {
    return speed.judged.outcome.empty() ? "not measured" : judgedWords(speed.judged, delta);
}

std::string besideItselfWords(double floor, std::int64_t rounds) {
    if (rounds == 0) return "";
    return std::isfinite(floor) ? "beside itself " + floorWords(floor, static_cast<std::size_t>(rounds)) : std::string("beside itself: not known");
}

std::string qualityWords(const QualityChange& quality) {
    if (!std::isfinite(quality.change)) return "not measured";
    std::string change = fmt::format("{:+.2f} %", 100 * quality.change);
    if (!std::isfinite(quality.low) || !std::isfinite(quality.high)) return change;
    return change + fmt::format(" [{:+.2f} %, {:+.2f} %]", 100 * quality.low, 100 * quality.high);
}

}  // namespace stepscope
