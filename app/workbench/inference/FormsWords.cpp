// How the answers of MeasureForms are said, in the window and on the command line.
#include <fmt/format.h>

#include <cmath>

#include "app/workbench/inference/MeasureForms.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "core/inference/PruneScope.h"

namespace stepscope {

// Those that core/inference knows, which a test holds against this list: whoever shows them sees nothing of LibTorch.
std::vector<std::string> allForms() {
    return {"f32", "bf16", "int8", "int4", "int8-dynamic"};
}

std::vector<PruningPoint> prunedPoints() {
    std::vector<PruningPoint> all;
    for (const PruneScope scope : kAllPruneScopes)
        for (const double share : kPrunedShares) {
            const char* const of = scope == PruneScope::Global ? "" : scope == PruneScope::Layer ? " of each matrix" : " of the heads";
            all.push_back({format::percent(share) + of, toString(scope), share});
        }
    all.push_back({kPrunedPattern, {}, 0});
    return all;
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
