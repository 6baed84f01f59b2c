// Rounds played over arms of known speed: in which order they come, what is found, what is left out, when it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "core/analysis/JudgedSentence.h"
#include "core/experiment/Rounds.h"

namespace stepscope {
namespace {

struct RoundsPlay {
    std::vector<double> seconds{1e-3, 1e-3};  // a token of each arm
    double scatter = 0.02;                    // of the logarithm of a block
    double drift = 0;                         // of all arms, of the logarithm a block
    double blockSeconds = 0.1, rebuildSeconds = 0.5;
    std::vector<double> others{};  // by round, from the pilot on; 0 beyond
    std::uint64_t seed = 1;
};

struct RoundsPlayed {
    std::vector<RoundOrder> orders;
    std::vector<std::vector<std::size_t>> rounds;  // their arms
};

RoundsPlayed play(Rounds& rounds, const RoundsPlay& how, std::size_t mostOrders = 100'000) {
    std::mt19937_64 random(how.seed);
    std::normal_distribution<double> normal;
    RoundsPlayed played;
    double elapsed = 0;
    while (played.orders.size() < mostOrders) {
        const auto order = rounds.next();
        if (!order) break;
        const std::size_t number = played.orders.size(), round = number / how.seconds.size();
        if (number % how.seconds.size() == 0) played.rounds.emplace_back();
        played.rounds.back().push_back(order->arm);
        played.orders.push_back(*order);
        ArmTimes times;
        const double slower = std::exp(how.scatter * normal(random) + how.drift * static_cast<double>(number));
        times.perToken = {how.seconds[order->arm] * slower, 2 * how.seconds[order->arm] * slower};
        times.rebuildSeconds = order->rebuild ? how.rebuildSeconds : 0;
        times.others = round < how.others.size() ? how.others[round] : 0;
        elapsed += how.blockSeconds + times.rebuildSeconds;
        times.elapsed = elapsed;
        rounds.done(times);
    }
    return played;
}

RoundsRules rulesOf(std::size_t arms, double budget = 60) {
    RoundsRules rules;
    rules.arms = arms;
    rules.measures = 2;
    rules.budgetSeconds = budget;
    rules.mostSeconds = 4 * budget;
    return rules;
}

TEST(Rounds, EachHasEveryArmOnceInAnOrderThatCoinsDecide) {
    Rounds rounds(rulesOf(3));
    const auto played = play(rounds, {.seconds = {1e-3, 1e-3, 1e-3}, .scatter = 0.2});
    ASSERT_GT(played.rounds.size(), 60u);
    std::set<std::vector<std::size_t>> orders;
    for (const auto& round : played.rounds) {
        EXPECT_EQ(std::set<std::size_t>(round.begin(), round.end()).size(), 3u);
        orders.insert(round);
    }
    EXPECT_EQ(orders.size(), 6u) << "every order occurs";
    Rounds again(rulesOf(3));
    EXPECT_EQ(play(again, {.seconds = {1e-3, 1e-3, 1e-3}, .scatter = 0.2}).rounds, played.rounds);
}

TEST(Rounds, FindWhichArmsAreFasterAndByHowMuch) {
    Rounds rounds(rulesOf(4));
    play(rounds, {.seconds = {1e-3, 0.4e-3, 1.25e-3, 1e-3}});
    EXPECT_TRUE(rounds.over());
    const PairedVerdict faster = rounds.verdict(1, 1), slower = rounds.verdict(2, 0);
    EXPECT_EQ(faster.outcome, PairedOutcome::Faster);
    EXPECT_NEAR(faster.ratio, 2.5, 0.05);
    EXPECT_LE(faster.low, 2.5);
    EXPECT_GE(faster.high, 2.5);
    EXPECT_EQ(slower.outcome, PairedOutcome::Slower);
    EXPECT_NEAR(slower.ratio, 0.8, 0.02);
    const PairedOutcome same = rounds.verdict(3, 0).outcome;
    EXPECT_TRUE(same == PairedOutcome::Equivalent || same == PairedOutcome::Inconclusive) << toString(same);
    EXPECT_THAT(judgedWords(rounds.judged(1, 0), 0.01), testing::HasSubstr("times as fast ["));
}

// What drifts by the same for all arms is no difference between them: within a round it is small, and coins order it.
TEST(Rounds, TakeNoDriftForADifference) {
    int claims = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        RoundsRules rules = rulesOf(2);
        rules.seed = seed;
        Rounds rounds(rules);
        play(rounds, {.drift = 2e-3, .seed = seed});
        const PairedOutcome found = rounds.verdict(1, 0).outcome;
        claims += found == PairedOutcome::Faster || found == PairedOutcome::Slower;
    }
    EXPECT_LE(claims, 3) << "of 20, each wrong in at most one of 20";
}

TEST(Rounds, TellTheSpeedOfEachArmWithAnIntervalThatHoldsIt) {
    Rounds rounds(rulesOf(2));
    play(rounds, {.seconds = {1e-3, 2e-3}});
    for (const std::size_t arm : {0u, 1u}) {
        const MeanInterval prompt = rounds.perToken(arm, 0), text = rounds.perToken(arm, 1);
        const double known = arm == 0 ? 1e-3 : 2e-3;
        EXPECT_LT(prompt.low, prompt.high);
        EXPECT_NEAR(prompt.mean, known, 0.02 * known);
        EXPECT_NEAR(text.mean, 2 * known, 0.04 * known);
    }
}

TEST(Rounds, MakeTheArmsAnewAgainAndAgainAndForTheFirstRoundThatCounts) {
    Rounds rounds(rulesOf(2));
    const auto played = play(rounds, {.scatter = 0.2});
    std::size_t pilots = 0, rebuilds = 0;
    for (std::size_t i = 0; i < played.orders.size(); ++i) {
        const RoundOrder& order = played.orders[i];
        pilots += order.pilot;
        if (!order.rebuild) continue;
        EXPECT_EQ(i % 2, 0u) << "in front of a round";
        if (!order.pilot) ++rebuilds;
    }
    EXPECT_EQ(pilots, 2 * rulesOf(2).pilotRounds);
    EXPECT_TRUE(played.orders[pilots].rebuild);
    EXPECT_GE(rebuilds, rulesOf(2).leastRebuilds);
    EXPECT_GE(rounds.verdict(1, 0).rebuilds, rulesOf(2).leastRebuilds);
}

TEST(Rounds, EndWithTheBudgetAndGoOnBeyondItOnlyForTheLeastNumber) {
    Rounds wide(rulesOf(2, 30));
    play(wide, {.scatter = 0.5});
    EXPECT_LE(wide.elapsed(), 30.0);
    EXPECT_GT(wide.elapsed(), 25.0);
    EXPECT_DOUBLE_EQ(wide.share(), 1);
    Rounds slow(rulesOf(2, 30));
    play(slow, {.scatter = 0.5, .blockSeconds = 2, .rebuildSeconds = 1});
    EXPECT_EQ(slow.counted(), rulesOf(2).leastRounds);
    EXPECT_GT(slow.elapsed(), 30.0);
    EXPECT_LE(slow.elapsed(), 120.0);
    Rounds hopeless(rulesOf(2, 5));
    play(hopeless, {.blockSeconds = 20});
    EXPECT_EQ(hopeless.verdict(1, 0).outcome, PairedOutcome::Inconclusive);
    EXPECT_THAT(hopeless.judged(1, 0).why, testing::HasSubstr("budget"));
}

TEST(Rounds, EndEarlyWhereEverythingIsDecided) {
    Rounds rounds(rulesOf(2, 3600));
    play(rounds, {.seconds = {1e-3, 0.5e-3}, .scatter = 0.01});
    EXPECT_LT(rounds.elapsed(), 600.0);
    EXPECT_EQ(rounds.verdict(1, 0).outcome, PairedOutcome::Faster);
}

TEST(Rounds, LeaveOutWholeRoundsThatOthersDisturbed) {
    Rounds rounds(rulesOf(2, 30));
    std::vector<double> others(1000, 0.0);
    for (std::size_t round = 10; round < 15; ++round) others[round] = 1.5;
    play(rounds, {.scatter = 0.3, .others = others});
    EXPECT_EQ(rounds.leftOut(), 5u);
    EXPECT_EQ(rounds.judged(1, 0).left, 5);
}

TEST(Rounds, SayThatTheyWereStopped) {
    Rounds rounds(rulesOf(2));
    play(rounds, {}, 12);
    rounds.stop();
    EXPECT_FALSE(rounds.next().has_value());
    EXPECT_THAT(rounds.judged(1, 0).why, testing::HasSubstr("stopped"));
}

TEST(MeanInterval, IsStudents) {
    EXPECT_TRUE(std::isnan(meanInterval({}).mean));
    const std::vector<double> one{3}, four{1, 2, 3, 6};
    EXPECT_TRUE(std::isinf(meanInterval(one).high));
    const MeanInterval found = meanInterval(four);
    EXPECT_DOUBLE_EQ(found.mean, 3);
    // t(0.975, 3) = 3.182446, standard deviation 2.160247.
    EXPECT_NEAR(found.high - 3, 3.182446 * 2.160247 / 2, 1e-5);
    EXPECT_NEAR(3 - found.low, found.high - 3, 1e-12);
}

}  // namespace
}  // namespace stepscope
