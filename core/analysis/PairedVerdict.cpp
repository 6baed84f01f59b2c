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

constexpr double kShareOfEveryLook = 0.25;  // of alpha
// Times the pilot's median deviation. The times of steps have heavy tails, so that what is far from the middle says little of it: cutting there
// narrows the last look's interval by a quarter. A bound that is to be one after few pairs cannot cut so early.
constexpr double kClip = 3, kClipAtTheEnd = 1;

PairedBound boundOf(const PairedRules& rules) {
    return {.eta = 10 * rules.pilotVariance, .alpha = kShareOfEveryLook * rules.alpha, .clip = kClip * rules.pilotMad};
}

PairedBound boundAtTheEnd(const PairedRules& rules) {
    return {.alpha = (1 - kShareOfEveryLook) * rules.alpha, .clip = kClipAtTheEnd * rules.pilotMad};
}

// Either holds the mean, and both together do as often as alpha says. Where the differences lean to one side the two cut means differ, and if so much
// that nothing is left of both intervals, the wider one stands. The mean of all of each pair, which is reported, is the noisier one: where it lies
// beyond the narrow interval and within the wide one the interval reaches to it, for a share that lies outside of its own interval tells a reader
// nothing. Beyond both it is of rare slow steps.
PairedInterval intervalOf(std::span<const double> differences, const PairedRules& rules, VerdictLook look) {
    const PairedInterval all = pairedInterval(differences, boundOf(rules));
    if (look != VerdictLook::AtTheEnd) return all;
    PairedInterval once = pairedIntervalAtOneLook(differences, boundAtTheEnd(rules));
    once.low = std::max(once.low, all.low);
    once.high = std::min(once.high, all.high);
    if (!(once.low <= once.centre && once.centre <= once.high)) return all;
    if (const double uncut = mean(differences); all.holds(uncut)) {
        once.low = std::min(once.low, uncut);
        once.high = std::max(once.high, uncut);
    }
    return once;
}

std::vector<double> differencesOf(std::span<const BlockPair> pairs, bool all) {
    std::vector<double> differences;
    for (const BlockPair& pair : pairs)
        if (all || !pair.discarded) differences.push_back(pair.difference);
    return differences;
}

struct Rebuilds {
    std::size_t count = 0, groups = 0;  // of instances; of what the t-interval is over
    double centre = std::numeric_limits<double>::quiet_NaN(), half = std::numeric_limits<double>::infinity();  // t-interval over the groups' means
    // Whether the groups by themselves say that there is a difference, and of which sign. Their own mean does: that of all pairs is cut about the
    // middle of most of them, so that some instances with luck of another kind would not be seen in it.
    bool agree(double mean) const { return std::abs(centre) > half && (mean > 0) == (centre > 0); }
};

// The pairs of each instance; of many, of instances in turn: more than kMostGroups say nothing more, and of fewer pairs than kPairsAGroup a cut mean
// is none, for one that is far off moves the middle of two as far as it likes.
std::vector<std::vector<double>> groupsOf(const std::map<std::int32_t, std::vector<double>>& byRebuild) {
    constexpr std::size_t kEnoughGroups = 12, kMostGroups = 24, kPairsAGroup = 4;
    std::size_t pairs = 0;
    for (const auto& [rebuild, differences] : byRebuild) pairs += differences.size();
    const std::size_t most = std::clamp(pairs / kPairsAGroup, kEnoughGroups, kMostGroups);
    std::vector<std::vector<double>> groups;
    std::size_t before = 0;
    for (const auto& [rebuild, differences] : byRebuild) {
        // An instance belongs to where its first pair lies among all of them.
        const std::size_t place = byRebuild.size() <= most ? groups.size() : before * most / pairs;
        if (groups.empty() || place >= groups.size()) groups.emplace_back();
        groups.back().insert(groups.back().end(), differences.begin(), differences.end());
        before += differences.size();
    }
    return groups;
}

// A group's mean is cut as the interval's is, but about itself: rare slow steps within one weigh no more here than there, and one that is slow as a
// whole weighs in full.
Rebuilds rebuildsOf(std::span<const BlockPair> pairs, bool all, double alpha, double clip) {
    std::map<std::int32_t, std::vector<double>> byRebuild;
    for (const BlockPair& pair : pairs)
        if (all || !pair.discarded) byRebuild[pair.rebuild].push_back(pair.difference);
    std::vector<double> means;
    for (const auto& differences : groupsOf(byRebuild)) means.push_back(cutMean(differences, clip));
    Rebuilds rebuilds{.count = byRebuild.size(), .groups = means.size()};
    if (means.size() < 2) return rebuilds;
    const double n = static_cast<double>(means.size());
    rebuilds.centre = mean(means);
    double squares = 0;
    for (const double value : means) squares += (value - rebuilds.centre) * (value - rebuilds.centre);
    const boost::math::students_t t(n - 1);
    rebuilds.half = boost::math::quantile(boost::math::complement(t, alpha / 2)) * std::sqrt(squares / (n - 1) / n);
    return rebuilds;
}

struct Floor {
    double ratio = std::numeric_limits<double>::quiet_NaN();
    bool orderMatters = false;
};

// Of what is no answer by itself there is no last look: it is bounded as it was all the time.
Floor floorOf(std::span<const BlockPair> pairs, const PairedRules& rules) {
    PairedBound bound = boundOf(rules);
    bound.alpha = rules.alpha;
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
    std::size_t pairs = 0;
    Rebuilds rebuilds;
};

// The rules over one choice of pairs, but for the floor and for what discarding did.
Judged judge(std::span<const BlockPair> pairs, bool all, const PairedRules& rules, VerdictLook look) {
    const std::vector<double> differences = differencesOf(pairs, all);
    Judged judged{.reason = PairedReason::TooFewPairs, .pairs = differences.size()};
    if (differences.empty()) return judged;
    judged.interval = intervalOf(differences, rules, look);
    judged.mean = mean(differences);
    judged.rareSlowSteps = !judged.interval.holds(judged.mean);
    judged.rebuilds = rebuildsOf(pairs, all, rules.alpha, (look == VerdictLook::AtTheEnd ? kClipAtTheEnd : kClip) * rules.pilotMad);
    if (differences.size() < rules.leastPairs || judged.rebuilds.count < rules.leastRebuilds) return judged;
    const double equal = std::log1p(rules.delta), half = judged.interval.halfWidth();
    // Of the pairs alone: instances that scatter by more than delta among each other may look equal together by chance. To ask of their own interval,
    // of six with Student's t, that it lies within some delta too would leave open many that are equal, which stay open too often as it is.
    if (judged.interval.low >= -equal && judged.interval.high <= equal) {
        judged.settled = true;
        judged.outcome = judged.rareSlowSteps ? PairedOutcome::Inconclusive : PairedOutcome::Equivalent;
        judged.reason = judged.rareSlowSteps ? PairedReason::RareSlowSteps : PairedReason::None;
        return judged;
    }
    const bool narrow = half <= std::max(equal, std::abs(judged.interval.centre) / 4);
    judged.reason = PairedReason::TooWide;
    if (judged.interval.holds(0) || !(narrow || look != VerdictLook::AfterAPair)) return judged;
    judged.reason = PairedReason::RebuildsDiffer;
    if (!judged.rebuilds.agree(judged.interval.centre)) return judged;
    // Most steps are faster there and all of them together slower, or the other way round: people pay for all.
    if (judged.rareSlowSteps && (judged.mean > 0) != (judged.interval.low > 0)) {
        judged.settled = true;
        judged.reason = PairedReason::RareSlowSteps;
        return judged;
    }
    judged.settled = narrow;
    judged.outcome = judged.interval.low > 0 ? PairedOutcome::Faster : PairedOutcome::Slower;
    judged.reason = PairedReason::None;
    return judged;
}

// Intervals narrow with the square root of the number of what they are made of, pairs or instances, which go on to come as they did.
double pairsToGo(const Judged& judged, const PairedRules& rules, VerdictLook look) {
    const auto more = [](double had, double half, double wanted) { return std::ceil(had * (half / wanted) * (half / wanted) - had); };
    const double n = static_cast<double>(judged.pairs), instances = static_cast<double>(judged.rebuilds.count);
    const double pairsAnInstance = instances > 0 ? n / instances : 1;
    const double least = std::max(
        {1.0, static_cast<double>(rules.leastPairs) - n, std::ceil((static_cast<double>(rules.leastRebuilds) - instances) * pairsAnInstance)});
    const double half = judged.interval.halfWidth(), equal = std::log1p(rules.delta);
    if (!std::isfinite(half)) return std::max(least, static_cast<double>(enoughToBound(boundOf(rules))) - n);
    const double centre = std::abs(judged.interval.centre);
    // When the time is spent a difference is one however wide its interval, if that excludes "equal": of one half as wide as it may be that is
    // likely.
    const double narrowEnough = std::max(equal, look == VerdictLook::AfterAPair ? centre / 4 : centre / 2);
    const double toDiffer = std::min(narrowEnough, centre), toEqual = equal - centre;
    const double narrow = std::max(least, more(n, half, std::max(toDiffer, toEqual)));
    if (judged.reason != PairedReason::RebuildsDiffer) return narrow;
    if ((judged.rebuilds.centre > 0) != (judged.interval.low > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double groups = static_cast<double>(judged.rebuilds.groups);
    return std::max(narrow, std::ceil(more(groups, judged.rebuilds.half, std::abs(judged.rebuilds.centre)) * n / groups));
}

}  // namespace

PairedVerdict judgePairs(std::span<const BlockPair> pairs, const PairedRules& rules, VerdictLook look) {
    SS_CHECK(rules.pilotVariance > 0 && rules.pilotMad > 0 && rules.delta > 0);
    const Judged judged = judge(pairs, false, rules, look);
    PairedVerdict verdict{.outcome = judged.outcome, .reason = judged.reason};
    verdict.pairs = judged.pairs;
    verdict.discarded = pairs.size() - judged.pairs;
    verdict.rebuilds = judged.rebuilds.count;
    verdict.settled = judged.settled;
    if (judged.pairs > 0) {
        verdict.ratio = std::exp(judged.mean);
        verdict.low = std::exp(judged.interval.low);
        verdict.high = std::exp(judged.interval.high);
        verdict.rareSlowSteps = judged.rareSlowSteps;
    }
    const Floor floor = floorOf(pairs, rules);
    verdict.floor = floor.ratio;
    verdict.pairsToGo = verdict.settled ? 0 : pairsToGo(judged, rules, look);
    if (verdict.outcome != PairedOutcome::Inconclusive) {
        const auto undecided = [&](PairedReason why) {
            verdict.outcome = PairedOutcome::Inconclusive;
            verdict.reason = why;
            verdict.settled = false;
            verdict.pairsToGo = std::numeric_limits<double>::quiet_NaN();
        };
        if (floor.orderMatters)
            undecided(PairedReason::OrderMatters);
        else if (verdict.discarded > 0 && judge(pairs, true, rules, look).outcome != judged.outcome)
            undecided(PairedReason::DiscardsDecide);
    }
    return verdict;
}

PairedDoubts doubtsOf(std::span<const BlockPair> pairs, const PairedRules& rules, VerdictLook look) {
    const PairedInterval all = intervalOf(differencesOf(pairs, true), rules, look);
    return {.orderMatters = floorOf(pairs, rules).orderMatters, .lowOfAll = std::exp(all.low), .highOfAll = std::exp(all.high)};
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
        case PairedReason::WithinFloor:
            return "within-floor";
    }
    return "";
}

}  // namespace stepscope
