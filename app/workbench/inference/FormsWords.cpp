// How the answers of MeasureForms are said, in the window and on the command line.
#include <fmt/format.h>

#include <algorithm>
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

std::string noSpeedWords(double seconds) {
    return fmt::format(
        "Speeds were not measured: making ready and the rounds before those that count took {}, all the time there was for them. Give it more "
        "seconds (--budget on the command line), or end other programs that slow this machine.",
        format::milliseconds(1e3 * seconds));
}

std::string besideItselfWords(double floor, std::int64_t rounds) {
    if (rounds == 0) return "";
    return std::isfinite(floor) ? "beside itself " + floorWords(floor, static_cast<std::size_t>(rounds)) : std::string("beside itself: not known");
}

std::string qualityOutcome(const QualityChange& quality, double delta) {
    if (!std::isfinite(quality.change)) return "";
    if (!std::isfinite(quality.low) || !std::isfinite(quality.high)) return toString(PairedOutcome::Inconclusive);
    // As a speed's: of the ratio, so that half as much again and two thirds are as far from none.
    const double equal = std::log1p(delta), low = std::log1p(quality.low), high = std::log1p(quality.high);
    if (low >= -equal && high <= equal) return toString(PairedOutcome::Equivalent);
    return low > 0 ? "worse" : high < 0 ? "better" : toString(PairedOutcome::Inconclusive);
}

QualityParts qualityParts(const QualityChange& quality, double delta) {
    const std::string outcome = qualityOutcome(quality, delta);
    if (outcome.empty()) return {};
    // An interval that excludes none is not printed as one that ends there.
    int decimals = 2;
    const bool differs = outcome == "worse" || outcome == "better";
    for (double shown = 0.5e-4; differs && decimals < 6 && std::min(std::abs(quality.low), std::abs(quality.high)) <= shown; shown /= 10) ++decimals;
    std::string figure = fmt::format("{:+.{}f} %", 100 * quality.change, decimals);
    if (std::isfinite(quality.low) && std::isfinite(quality.high))
        figure += fmt::format(" [{:+.{}f} %, {:+.{}f} %]", 100 * quality.low, decimals, 100 * quality.high, decimals);
    // The words of a speed that is the same.
    return {figure, outcome == toString(PairedOutcome::Equivalent) ? judgedWords({.outcome = outcome}, delta) : outcome};
}

std::string qualityWords(const QualityChange& quality, double delta) {
    const QualityParts parts = qualityParts(quality, delta);
    return parts.verdict.empty() ? "not measured" : parts.figure + ": " + parts.verdict;
}

}  // namespace stepscope
