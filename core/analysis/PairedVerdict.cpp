#include "core/analysis/PairedVerdict.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "core/analysis/Statistics.h"
#include "core/base/Check.h"

namespace stepscope {
namespace {

PairedBound boundOf(const PairedRules& rules) {
    return {.eta = 10 * rules.pilotVariance, .alpha = rules.alpha, .clip = 3 * rules.pilotMad};
}

std::vector<double> differencesOf(std::span<const BlockPair> pairs, bool all) {
    std::vector<double> differences;
    for (const BlockPair& pair : pairs)
        if (all || !pair.discarded) differences.push_back(pair.difference);
    return differences;
}

struct Rebuilds {
    std::size_t count = 0;
    double side = 0;  // the sign of the instances' mean where the t-interval over their means excludes 0; 0 where it does not
};

Rebuilds rebuildsOf(std::span<const BlockPair> pairs, bool all, double alpha) {
    std::map<std::int32_t, std::vector<double>> byRebuild;
    for (const BlockPair& pair : pairs)
        if (all || !pair.discarded) byRebuild[pair.rebuild].push_back(pair.difference);
    std::vector<double> means;
    for (const auto& [rebuild, differences] : byRebuild) means.push_back(mean(differences));
    Rebuilds rebuilds{.count = means.size()};
    if (means.size() < 2) return rebuilds;
    const double centre = mean(means), n = static_cast<double>(means.size());
    double squares = 0;
    for (const double value : means) squares += (value - centre) * (value - centre);
    const boost::math::students_t t(n - 1);
    const double half = boost::math::quantile(boost::math::complement(t, alpha / 2)) * std::sqrt(squares / (n - 1) / n);
    if (std::abs(centre) > half) rebuilds.side = centre > 0 ? 1 : -1;
    return rebuilds;
}

struct Floor {
    double ratio = std::numeric_limits<double>::quiet_NaN();
    bool orderMatters = false;
};

Floor floorOf(std::span<const BlockPair> pairs, const PairedBound& bound) {
    std::vector<double> byCoin, inTime;
    for (const BlockPair& pair : pairs) {
        if (pair.discarded || !std::isfinite(pair.sameArm)) continue;
        inTime.push_back(pair.sameArm);
        byCoin.push_back(pair.sameArmTurned ? -pair.sameArm : pair.sameArm);
    }
    Floor floor;
    if (byCoin.empty()) return floor;
    const PairedInterval around = pairedInterval(byCoin, bound);
    if (std::isfinite(around.low) && std::isfinite(around.high)) floor.ratio = std::exp(std::abs(mean(byCoin)) + around.halfWidth());
    floor.orderMatters = !pairedInterval(inTime, bound).holds(0);
    return floor;
}

struct Judged {
    PairedOutcome outcome = PairedOutcome::Inconclusive;
    PairedReason reason = PairedReason::None;
    PairedInterval interval;
    double mean = std::numeric_limits<double>::quiet_NaN();
    bool rareSlowSteps = false, settled = false;
    std::size_t pairs = 0, rebuilds = 0;
};

// The rules over one choice of pairs, but for the floor and for what discarding did.
Judged judge(std::span<const BlockPair> pairs, bool all, const PairedRules& rules, bool spent) {
    const std::vector<double> differences = differencesOf(pairs, all);
    Judged judged{.reason = PairedReason::TooFewPairs, .pairs = differences.size()};
    if (differences.empty()) return judged;
    judged.interval = pairedInterval(differences, boundOf(rules));
    judged.mean = mean(differences);
    judged.rareSlowSteps = !judged.interval.holds(judged.mean);
    const Rebuilds rebuilds = rebuildsOf(pairs, all, rules.alpha);
    judged.rebuilds = rebuilds.count;
    if (differences.size() < rules.leastPairs || rebuilds.count < rules.leastRebuilds) return judged;
    const double equal = std::log1p(rules.delta), half = judged.interval.halfWidth();
    if (judged.interval.low >= -equal && judged.interval.high <= equal) {
        judged.settled = true;
        judged.outcome = judged.rareSlowSteps ? PairedOutcome::Inconclusive : PairedOutcome::Equivalent;
        judged.reason = judged.rareSlowSteps ? PairedReason::RareSlowSteps : PairedReason::None;
        return judged;
    }
    const bool narrow = half <= std::max(equal, std::abs(judged.interval.centre) / 4);
    judged.reason = PairedReason::TooWide;
    if (judged.interval.holds(0) || !(narrow || spent)) return judged;
    judged.reason = PairedReason::RebuildsDiffer;
    if (rebuilds.side != (judged.interval.low > 0 ? 1 : -1)) return judged;
    judged.settled = narrow;
    judged.outcome = judged.interval.low > 0 ? PairedOutcome::Faster : PairedOutcome::Slower;
    judged.reason = PairedReason::None;
    return judged;
}

// Intervals narrow with the square root of the number of pairs.
double pairsToGo(const Judged& judged, const PairedRules& rules) {
    const double half = judged.interval.halfWidth(), n = static_cast<double>(judged.pairs), equal = std::log1p(rules.delta);
    if (!std::isfinite(half)) return std::numeric_limits<double>::quiet_NaN();
    const double centre = std::abs(judged.interval.centre);
    const double toDiffer = std::min(std::max(equal, centre / 4), centre), toEqual = equal - centre;
    const double wanted = std::max(toDiffer, toEqual);
    return std::max(1.0, std::ceil(n * (half / wanted) * (half / wanted) - n));
}

}  // namespace

PairedVerdict judgePairs(std::span<const BlockPair> pairs, const PairedRules& rules, bool spent) {
    SS_CHECK(rules.pilotVariance > 0 && rules.pilotMad > 0 && rules.delta > 0);
    const Judged judged = judge(pairs, false, rules, spent);
    PairedVerdict verdict{.outcome = judged.outcome, .reason = judged.reason};
    verdict.pairs = judged.pairs;
    verdict.discarded = pairs.size() - judged.pairs;
    verdict.rebuilds = judged.rebuilds;
    verdict.settled = judged.settled;
    if (judged.pairs > 0) {
        verdict.ratio = std::exp(judged.mean);
        verdict.low = std::exp(judged.interval.low);
        verdict.high = std::exp(judged.interval.high);
        verdict.rareSlowSteps = judged.rareSlowSteps;
    }
    const Floor floor = floorOf(pairs, boundOf(rules));
    verdict.floor = floor.ratio;
    if (verdict.outcome != PairedOutcome::Inconclusive) {
        const auto undecided = [&](PairedReason why) {
            verdict.outcome = PairedOutcome::Inconclusive;
            verdict.reason = why;
            verdict.settled = false;
        };
        if (floor.orderMatters)
            undecided(PairedReason::OrderMatters);
        else if (verdict.discarded > 0 && judge(pairs, true, rules, spent).outcome != judged.outcome)
            undecided(PairedReason::DiscardsDecide);
    }
    verdict.pairsToGo = verdict.settled ? 0 : pairsToGo(judged, rules);
    return verdict;
}

const char* toString(PairedOutcome outcome) {
    switch (outcome) {
        case PairedOutcome::Faster:
            return "faster";
        case PairedOutcome::Slower:
            return "slower";
        case PairedOutcome::Equivalent:
            return "equivalent";
        case PairedOutcome::Inconclusive:
            return "inconclusive";
    }
    return "";
}

const char* toString(PairedReason reason) {
    switch (reason) {
        case PairedReason::None:
            return "";
        case PairedReason::TooFewPairs:
            return "too-few-pairs";
        case PairedReason::TooWide:
            return "too-wide";
        case PairedReason::RebuildsDiffer:
            return "rebuilds-differ";
        case PairedReason::OrderMatters:
            return "order-matters";
        case PairedReason::DiscardsDecide:
            return "discards-decide";
        case PairedReason::RareSlowSteps:
            return "rare-slow-steps";
    }
    return "";
}

}  // namespace stepscope
