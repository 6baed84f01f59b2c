// What an experiment says: each rule by itself, and by simulation what it promises of whole experiments that stop by themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/PairedVerdict.h"

namespace stepscope {
namespace {

const PairedRules kRules{.delta = 0.01, .pilotVariance = 1e-4, .pilotMad = 0.007};

// `count` pairs around `truth` that alternate by `scatter`, over six instances.
std::vector<BlockPair> quiet(std::size_t count, double truth, double scatter = 0.004) {
    std::vector<BlockPair> made;
    for (std::size_t i = 0; i < count; ++i) {
        const double side = i % 2 == 0 ? 1 : -1;
        made.push_back({.difference = truth + side * scatter, .rebuild = static_cast<std::int32_t>(i % 12 / 2)});
    }
    return made;
}

TEST(PairedVerdict, SaysFasterOnlyWithAnIntervalThatExcludesEqual) {
    const auto verdict = judgePairs(quiet(60, 0.05), kRules, VerdictLook::AfterAPair);
    EXPECT_EQ(verdict.outcome, PairedOutcome::Faster);
    EXPECT_GT(verdict.low, 1);
    EXPECT_NEAR(verdict.ratio, std::exp(0.05), 1e-9);
    EXPECT_TRUE(verdict.settled);
    EXPECT_EQ(verdict.pairsToGo, 0);
    EXPECT_EQ(judgePairs(quiet(60, -0.05), kRules, VerdictLook::AfterAPair).outcome, PairedOutcome::Slower);
}

TEST(PairedVerdict, SaysNothingBeforeEightPairsAndSixInstances) {
    EXPECT_EQ(judgePairs({}, kRules, VerdictLook::Stopped).reason, PairedReason::TooFewPairs);
    EXPECT_EQ(judgePairs(quiet(7, 1), kRules, VerdictLook::Stopped).reason, PairedReason::TooFewPairs);
    auto few = quiet(60, 0.5);
    for (auto& pair : few) pair.rebuild %= 5;
    EXPECT_EQ(judgePairs(few, kRules, VerdictLook::Stopped).reason, PairedReason::TooFewPairs);
}

TEST(PairedVerdict, CallsADifferenceWithinDeltaEquivalentEvenWhereItIsOne) {
    const auto verdict = judgePairs(quiet(2000, 0.004), kRules, VerdictLook::AfterAPair);
    EXPECT_EQ(verdict.outcome, PairedOutcome::Equivalent);
    EXPECT_GT(verdict.low, 1) << "the interval excludes equal, and lies within delta";
}

TEST(PairedVerdict, WaitsForANarrowIntervalUnlessTheTimeIsSpent) {
    const auto pairs = quiet(16, 0.03, 0.012);
    const auto waiting = judgePairs(pairs, kRules, VerdictLook::AfterAPair);
    EXPECT_EQ(waiting.reason, PairedReason::TooWide);
    EXPECT_GT(waiting.pairsToGo, 1);
    const auto spent = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(spent.outcome, PairedOutcome::Faster);
    EXPECT_FALSE(spent.settled);
}

TEST(PairedVerdict, DecidesAtTheEndWhatLookingAllTheTimeLeavesOpen) {
    // One that counts everything below 0.1 % as a difference.
    PairedRules fine = kRules;
    fine.delta = 0.001;
    const auto pairs = quiet(36, 0.004, 0.005);
    EXPECT_EQ(judgePairs(pairs, fine, VerdictLook::AfterAPair).reason, PairedReason::TooWide);
    EXPECT_EQ(judgePairs(pairs, fine, VerdictLook::Stopped).reason, PairedReason::TooWide) << "who stops it may do so because of what it says";
    const auto ended = judgePairs(pairs, fine, VerdictLook::AtTheEnd), looked = judgePairs(pairs, fine, VerdictLook::AfterAPair);
    EXPECT_EQ(ended.outcome, PairedOutcome::Faster);
    EXPECT_GE(ended.low, looked.low);
    EXPECT_LE(ended.high, looked.high);
}

TEST(PairedVerdict, AtTheEndTheIntervalReachesToTheMeanOfAllUnlessThatIsOfRareSlowSteps) {
    PairedRules fine = kRules;
    fine.delta = 0.001;
    auto pairs = quiet(36, 0.004, 0.005);
    pairs[5].difference += 0.2;  // one slow block: the mean moves beyond what the cut pairs say
    const auto ended = judgePairs(pairs, fine, VerdictLook::AtTheEnd), looked = judgePairs(pairs, fine, VerdictLook::Stopped);
    EXPECT_DOUBLE_EQ(ended.high, ended.ratio);
    EXPECT_LT(ended.ratio, looked.high);
    EXPECT_FALSE(ended.rareSlowSteps);
    auto many = quiet(2000, 0.004, 0.005);
    for (std::size_t i = 0; i < many.size(); i += 40) many[i].difference += 2;
    const auto slow = judgePairs(many, fine, VerdictLook::AtTheEnd);
    EXPECT_TRUE(slow.rareSlowSteps);
    EXPECT_GT(slow.ratio, slow.high);
}

TEST(PairedVerdict, ClaimsNothingThatOnlySomeInstancesShow) {
    auto pairs = quiet(60, 0);
    for (auto& pair : pairs)
        if (pair.rebuild < 2) pair.difference += 0.06;  // two of six were given luckier addresses
    const auto verdict = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(verdict.outcome, PairedOutcome::Inconclusive);
    EXPECT_EQ(verdict.reason, PairedReason::RebuildsDiffer);
    // With more pairs of each the interval is narrow: it is instances that are too few. With six of which two are so lucky Student's t needs ten
    // more.
    auto many = quiet(240, 0);
    for (auto& pair : many)
        if (pair.rebuild < 2) pair.difference += 0.06;
    const auto narrow = judgePairs(many, kRules, VerdictLook::AfterAPair);
    EXPECT_EQ(narrow.reason, PairedReason::RebuildsDiffer);
    EXPECT_NEAR(narrow.pairsToGo, 10 * 240 / 6, 1);
    for (auto& pair : pairs) pair.difference = pair.rebuild == 0 ? -0.5 : 0.02 + (pair.difference > 0 ? 0.001 : -0.001);
    const auto opposite = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(opposite.reason, PairedReason::RebuildsDiffer);
    EXPECT_TRUE(std::isnan(opposite.pairsToGo)) << "the instances' mean has the other sign: no number of them is known to decide";
}

TEST(PairedVerdict, SaysHowManyPairsAnIntervalTakesWhereThereIsNone) {
    // Little scatter in the pilot's median: what is cut so early bounds nothing for long.
    const PairedRules early{.delta = 0.01, .pilotVariance = 1e-4, .pilotMad = 0.005};
    const auto unbounded = judgePairs(quiet(9, 1), early, VerdictLook::Stopped);
    EXPECT_EQ(unbounded.reason, PairedReason::TooFewPairs) << "five instances only";
    auto nine = quiet(9, 1);
    for (std::size_t i = 0; i < nine.size(); ++i) nine[i].rebuild = static_cast<std::int32_t>(i % 6);
    const auto verdict = judgePairs(nine, early, VerdictLook::Stopped);
    EXPECT_EQ(verdict.reason, PairedReason::TooWide);
    EXPECT_TRUE(std::isinf(verdict.high));
    EXPECT_GE(verdict.pairsToGo, 1);
    auto enough = quiet(9 + static_cast<std::size_t>(verdict.pairsToGo), 1);
    for (std::size_t i = 0; i < enough.size(); ++i) enough[i].rebuild = static_cast<std::int32_t>(i % 6);
    EXPECT_TRUE(std::isfinite(judgePairs(enough, early, VerdictLook::Stopped).high));
    EXPECT_GE(judgePairs({}, early, VerdictLook::Stopped).pairsToGo, 8);
    EXPECT_GE(judgePairs(quiet(3, 0), early, VerdictLook::Stopped).pairsToGo, 5);
}

// What is asked again with so much time is decided at its end, where an interval that excludes "equal" may be as wide as it is.
TEST(PairedVerdict, AsksForNoMorePairsThanTheLookAtTheEndNeeds) {
    std::mt19937_64 random(17);
    std::normal_distribution<double> noise(0, 1);
    const PairedRules rules{.delta = 0.01, .pilotVariance = 1, .pilotMad = 0.67};
    const auto made = [&](std::size_t count) {
        std::vector<BlockPair> pairs(count);
        for (std::size_t i = 0; i < count; ++i) pairs[i] = {.difference = 0.3 + noise(random), .rebuild = static_cast<std::int32_t>(i / 2)};
        return pairs;
    };
    int open = 0, decided = 0;
    for (int e = 0; e < 200; ++e) {
        const auto pairs = made(30);
        const auto spent = judgePairs(pairs, rules, VerdictLook::AtTheEnd);
        if (spent.reason != PairedReason::TooWide || std::log(spent.ratio) < 0.2 || std::log(spent.ratio) > 0.4) continue;
        ++open;
        if (spent.pairsToGo > 1000) continue;  // the middle of most of them happens to be near "equal"
        EXPECT_LT(spent.pairsToGo, judgePairs(pairs, rules, VerdictLook::AfterAPair).pairsToGo);
        const auto longer = judgePairs(made(30 + static_cast<std::size_t>(spent.pairsToGo)), rules, VerdictLook::AtTheEnd);
        decided += longer.outcome == PairedOutcome::Faster;
    }
    EXPECT_GE(open, 40);
    EXPECT_GE(decided, open * 6 / 10) << "of " << open;
}

TEST(PairedVerdict, ClaimsNothingWhereTheOrderOfOneArmsBlocksMatters) {
    auto pairs = quiet(60, 0.05);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].sameArm = 0.03 + (i % 2 == 0 ? 0.001 : -0.001);
        pairs[i].sameArmTurned = i % 4 < 2;
    }
    const auto verdict = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(verdict.reason, PairedReason::OrderMatters);
    EXPECT_TRUE(std::isnan(verdict.pairsToGo)) << "more of the same need not help";
    EXPECT_GT(verdict.floor, 1);
}

TEST(PairedVerdict, ReportsTheFloorOfAnArmBesideItself) {
    auto pairs = quiet(60, 0.05);
    EXPECT_TRUE(std::isnan(judgePairs(pairs, kRules, VerdictLook::Stopped).floor));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].sameArm = i % 2 == 0 ? 0.004 : -0.004;
        pairs[i].sameArmTurned = i % 4 < 2;
    }
    const auto verdict = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(verdict.outcome, PairedOutcome::Faster);
    EXPECT_GT(verdict.floor, 1);
    EXPECT_LT(verdict.floor, 1.02);
}

TEST(PairedVerdict, ClaimsNothingThatDiscardingMade) {
    auto pairs = quiet(30, 0.02);
    for (std::size_t i = 0; i < 60; ++i)
        pairs.push_back({.difference = i % 2 == 0 ? -0.05 : 0.03, .rebuild = static_cast<std::int32_t>(i % 12 / 2), .discarded = true});
    const auto verdict = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_EQ(verdict.reason, PairedReason::DiscardsDecide);
    EXPECT_EQ(verdict.discarded, 60u);
    EXPECT_TRUE(std::isnan(verdict.pairsToGo));
}

TEST(PairedVerdict, NamesRareSlowStepsInsteadOfCallingTheArmsEqual) {
    auto pairs = quiet(2000, 0);
    for (std::size_t i = 0; i < pairs.size(); i += 40) pairs[i].difference = 2;  // A's rare stalls, cut for the interval
    const auto verdict = judgePairs(pairs, kRules, VerdictLook::Stopped);
    EXPECT_TRUE(verdict.rareSlowSteps);
    EXPECT_EQ(verdict.outcome, PairedOutcome::Inconclusive);
    EXPECT_EQ(verdict.reason, PairedReason::RareSlowSteps);
    EXPECT_GT(verdict.ratio, 1.02);
}

// Nine pairs of ten say that B is faster, and in the tenth it stalls: people pay for that one too.
TEST(PairedVerdict, ClaimsNothingWhereMostStepsSayOneThingAndTheMeanTheOpposite) {
    for (const double side : {1.0, -1.0}) {
        auto pairs = quiet(600, side * 0.02);
        for (std::size_t i = 0; i < pairs.size(); i += 10) pairs[i].difference = side * -0.7;
        for (const auto look : {VerdictLook::AfterAPair, VerdictLook::Stopped, VerdictLook::AtTheEnd}) {
            const auto verdict = judgePairs(pairs, kRules, look);
            EXPECT_EQ(verdict.outcome, PairedOutcome::Inconclusive);
            EXPECT_EQ(verdict.reason, PairedReason::RareSlowSteps);
            EXPECT_EQ(verdict.ratio > 1, side < 0);
            EXPECT_EQ(verdict.low > 1, side > 0);
            EXPECT_NE(whyJudged(verdict, {}).find("the mean of all of them the opposite"), std::string::npos);
        }
    }
}

// --- whole experiments ----------------------------------------------------------------------------------------------

struct Outcomes {
    int claims = 0, faster = 0, equivalent = 0, missed = 0, experiments = 0;
};

using Luck = std::function<double(std::mt19937_64&)>;

Luck little() {
    return [luck = std::normal_distribution<double>(0, 0.002)](std::mt19937_64& random) mutable { return luck(random); };
}

// Experiments of at most `most` pairs that are looked at after every pair and stop by themselves. The machine drifts, blocks remember, one pair in
// twenty is hit by a burst, and each instance of an arm is lucky or not.
Outcomes experiments(std::uint64_t seed, int count, double truth, std::size_t most, double delta, const Luck& luck = little()) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0, 0.008);
    std::bernoulli_distribution coin(0.5), burst(0.05);
    Outcomes outcomes{.experiments = count};
    for (int e = 0; e < count; ++e) {
        double level = 0, luckA = 0, luckB = 0;
        const auto block = [&](double arm) {
            level = 0.9 * level + 0.3 * noise(random);
            return arm + level + noise(random) + (burst(random) ? 0.2 : 0);
        };
        const auto pair = [&] {
            const bool aFirst = coin(random);
            double a, b;
            if (aFirst)
                a = block(truth + luckA), b = block(luckB);
            else
                b = block(luckB), a = block(truth + luckA);
            return a - b;
        };
        std::vector<double> pilot(10);
        for (double& d : pilot) d = pair();
        std::vector<double> sorted = pilot;
        std::ranges::sort(sorted);
        const double middle = (sorted[4] + sorted[5]) / 2;
        double variance = 0;
        for (double& d : sorted) variance += (d - middle) * (d - middle) / 9, d = std::abs(d - middle);
        std::ranges::sort(sorted);
        const PairedRules rules{.delta = delta, .pilotVariance = variance, .pilotMad = (sorted[4] + sorted[5]) / 2};
        std::vector<BlockPair> pairs;
        PairedVerdict verdict;
        while (pairs.size() < most) {
            if (pairs.size() % 10 == 0) luckA = luck(random), luckB = luck(random);
            pairs.push_back({.difference = pair(), .rebuild = static_cast<std::int32_t>(pairs.size() / 10)});
            verdict = judgePairs(pairs, rules, pairs.size() == most ? VerdictLook::AtTheEnd : VerdictLook::AfterAPair);
            if (verdict.settled) break;
        }
        outcomes.faster += verdict.outcome == PairedOutcome::Faster;
        outcomes.claims += verdict.outcome == PairedOutcome::Faster || verdict.outcome == PairedOutcome::Slower;
        outcomes.equivalent += verdict.outcome == PairedOutcome::Equivalent;
        outcomes.missed += std::log(verdict.low) > truth || std::log(verdict.high) < truth;
    }
    return outcomes;
}

TEST(PairedVerdict, SeldomClaimsADifferenceBetweenEqualArms) {
    const auto outcomes = experiments(11, 300, 0, 80, 0.01);
    EXPECT_LE(outcomes.claims, 18) << "of " << outcomes.experiments;  // 6 %
    EXPECT_LE(outcomes.missed, 18);
}

// Of memory that lies well or does not: most pairs are of one kind, by chance, and a mean that is cut about them would not see the others.
TEST(PairedVerdict, SeldomClaimsADifferenceThatIsOfInstancesOfTwoKinds) {
    const auto twoKinds = [](std::mt19937_64& random) { return std::bernoulli_distribution(0.5)(random) ? 0.015 : -0.015; };
    const auto outcomes = experiments(14, 300, 0, 80, 0.01, twoKinds);
    EXPECT_LE(outcomes.claims, 18) << "of " << outcomes.experiments;
    EXPECT_GE(experiments(15, 100, 0.06, 80, 0.01, twoKinds).faster, 90) << "twice as much as one kind from the other";
}

TEST(PairedVerdict, ClaimsNothingThatTheMeanOfInstancesDoesNotShow) {
    // Four instances of six 3 % faster, two 1 % slower: 1.7 % on average, give or take 2.1 %.
    std::vector<BlockPair> pairs;
    for (int i = 0; i < 48; ++i) pairs.push_back({.difference = (i / 8 < 4 ? 0.03 : -0.01) + (i % 2 == 0 ? 0.002 : -0.002), .rebuild = i / 8});
    const auto verdict = judgePairs(pairs, {.delta = 0.01, .pilotVariance = 1e-5, .pilotMad = 0.002}, VerdictLook::AtTheEnd);
    EXPECT_GT(verdict.low, 1) << "most pairs say so";
    EXPECT_EQ(verdict.outcome, PairedOutcome::Inconclusive);
    EXPECT_EQ(verdict.reason, PairedReason::RebuildsDiffer);
}

TEST(PairedVerdict, FindsThreePercentAndHoldsTheTruth) {
    const auto outcomes = experiments(12, 200, 0.03, 100, 0.01);
    EXPECT_GE(outcomes.faster, 180) << "of " << outcomes.experiments;
    EXPECT_EQ(outcomes.faster, outcomes.claims) << "none the wrong way";
    EXPECT_LE(outcomes.missed, 12);
}

// Two pairs an instance, which lie further apart than both are cut: of how many the difference is found, and whether it is where A is called B.
TEST(PairedVerdict, FindsWhatIsFasterAsOftenAsWhatIsSlower) {
    std::mt19937_64 random(16);
    std::normal_distribution<double> noise(0, 0.01);
    std::bernoulli_distribution disturbed(1.0 / 12);
    const PairedRules rules{.delta = 0.0005, .pilotVariance = 1e-4, .pilotMad = 0.0067};
    const int experiments = 300;
    int found = 0;
    for (int e = 0; e < experiments; ++e) {
        std::vector<BlockPair> pairs, turned;
        for (std::int32_t i = 0; i < 48; ++i) {
            const double off = noise(random) * (disturbed(random) ? 20 : 1);
            pairs.push_back({.difference = 0.006 + off, .rebuild = i / 2});
            turned.push_back({.difference = -0.006 - off, .rebuild = i / 2});
        }
        const PairedOutcome of = judgePairs(pairs, rules, VerdictLook::AtTheEnd).outcome;
        const PairedOutcome mirror = judgePairs(turned, rules, VerdictLook::AtTheEnd).outcome;
        EXPECT_EQ(of == PairedOutcome::Faster, mirror == PairedOutcome::Slower) << e;
        EXPECT_NE(of, PairedOutcome::Slower);
        found += of == PairedOutcome::Faster;
    }
    EXPECT_GE(found, 150) << "of " << experiments << ": of fewer than four pairs a cut mean is that of the disturbed ones, too";
}

TEST(PairedVerdict, CallsEqualArmsEquivalentWithinTwoPercent) {
    EXPECT_GE(experiments(13, 200, 0, 100, 0.02).equivalent, 160);
}

}  // namespace
}  // namespace stepscope
