#include "core/analysis/SlownessBound.h"

#include <cmath>
#include <vector>

#include "core/analysis/PairedVerdict.h"

namespace stepscope {
namespace {

constexpr double kAlike = 1e-9;  // of ratios that are the same but for the last bits

Slowness sideOf(double low, double high, double allowed) {
    if (high < allowed) return Slowness::Beyond;
    if (low >= allowed) return Slowness::Within;
    return Slowness::Unknown;
}

}  // namespace

Slowness slownessOf(const ExperimentHistory& history, double percent) {
    const auto& judged = history.newest();
    if (!judged) return Slowness::Unknown;
    const double allowed = 1 - percent / 100;
    const Slowness said = sideOf(judged->low, judged->high, allowed);
    // The interval is of most steps then, and people pay for all of them: both have to say the same.
    if (judged->rareSlowSteps && sideOf(judged->ratio, judged->ratio, allowed) != said) return Slowness::Unknown;
    if (judged->outcome != toString(PairedOutcome::Inconclusive)) return said;
    if (judged->reason != toString(PairedReason::TooWide) || said == Slowness::Unknown) return Slowness::Unknown;
    if (!(judged->pilotVariance > 0) || !(judged->pilotMad > 0)) return Slowness::Unknown;
    std::vector<BlockPair> pairs;
    for (const ExperimentJudged& pair : history.pairs())
        pairs.push_back({.difference = pair.difference,
                         .sameArm = pair.sameArm,
                         .sameArmTurned = pair.sameArmTurned,
                         .rebuild = static_cast<std::int32_t>(pair.rebuild),
                         .discarded = pair.discarded});
    PairedRules rules{.pilotVariance = judged->pilotVariance, .pilotMad = judged->pilotMad};
    if (const auto& began = history.began()) rules.alpha = began->alpha;
    // Of the last look where it was that of the end, which is not stored: the interval tells.
    const PairedVerdict atTheEnd = judgePairs(pairs, rules, VerdictLook::AtTheEnd);
    const bool ended = std::abs(atTheEnd.low - judged->low) < kAlike && std::abs(atTheEnd.high - judged->high) < kAlike;
    const PairedDoubts doubts = doubtsOf(pairs, rules, ended ? VerdictLook::AtTheEnd : VerdictLook::Stopped);
    return !doubts.orderMatters && sideOf(doubts.lowOfAll, doubts.highOfAll, allowed) == said ? said : Slowness::Unknown;
}

}  // namespace stepscope
