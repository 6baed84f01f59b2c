// Rounds played over arms of known speed: in which order they come, what is found, what the first arm says beside itself, what is left out, when it
// ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "core/analysis/JudgedSentence.h"
#include "core/experiment/Rounds.h"

namespace stepscope {
namespace {

// How the logarithm of a block's time scatters on a machine.
enum class Scatter { Normal, HeavyTails, Wandering, SlowBlocks };

struct RoundsPlay {
    std::vector<double> seconds{1e-3, 1e-3};  // a token of each arm
    double scatter = 0.02;                    // of the logarithm of a block
    Scatter kind = Scatter::Normal;
    double drift = 0;  // of all arms, of the logarithm a block
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
    std::student_t_distribution<double> heavy(2.5);
    std::uniform_real_distribution<double> uniform;
    double wandered = 0;
    const auto noise = [&] {
        switch (how.kind) {
            case Scatter::Normal:
                return normal(random);
            case Scatter::HeavyTails:
                return heavy(random);
            case Scatter::Wandering:
                wandered = 0.98 * wandered + 0.2 * normal(random);
                return wandered + 0.3 * normal(random);
            case Scatter::SlowBlocks:
                return normal(random) + (uniform(random) < 0.05 ? 10.0 : 0.0);
        }
        return 0.0;
    };
    RoundsPlayed played;
    double elapsed = 0;
    while (played.orders.size() < mostOrders) {
        const auto order = rounds.next();
        if (!order) break;
        const std::size_t number = played.orders.size(), round = number / rounds.blocksARound();
        if (number % rounds.blocksARound() == 0) played.rounds.emplace_back();
        played.rounds.back().push_back(order->arm);
        played.orders.push_back(*order);
        ArmTimes times;
        const double slower = std::exp(how.scatter * noise() + how.drift * static_cast<double>(number));
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
        EXPECT_THAT(round, testing::UnorderedElementsAre(0, 0, 1, 2)) << "and the first one once more";
        orders.insert(round);
    }
    EXPECT_EQ(orders.size(), 12u) << "every order occurs";
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
        EXPECT_EQ(i % rounds.blocksARound(), 0u) << "in front of a round";
        if (!order.pilot) ++rebuilds;
    }
    EXPECT_EQ(pilots, rounds.blocksARound() * rulesOf(2).pilotRounds);
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
    play(rounds, {}, 18);
    rounds.stop();
    EXPECT_FALSE(rounds.next().has_value());
    EXPECT_THAT(rounds.judged(1, 0).why, testing::HasSubstr("stopped"));
}

TEST(Rounds, OfOneArmAloneHaveNoFloor) {
    Rounds rounds(rulesOf(1));
    const auto played = play(rounds, {.seconds = {1e-3}});
    EXPECT_EQ(rounds.blocksARound(), 1u);
    EXPECT_GT(played.orders.size(), 20u);
    EXPECT_TRUE(std::isnan(rounds.floor(0)));
}

TEST(Rounds, SayWhatTheFirstArmSaysBesideItself) {
    Rounds calm(rulesOf(2)), restless(rulesOf(2)), begun(rulesOf(2));
    play(calm, {.seconds = {1e-3, 0.5e-3}, .scatter = 0.01});
    play(restless, {.seconds = {1e-3, 0.5e-3}, .scatter = 0.1});
    EXPECT_GT(calm.floor(0), 1);
    EXPECT_LT(calm.floor(0), 1.02);
    EXPECT_GT(restless.floor(0), calm.floor(0)) << "where blocks scatter more it is higher";
    EXPECT_EQ(calm.judged(1, 0).floor, calm.floor(0));
    EXPECT_EQ(restless.verdict(1, 1).floor, restless.floor(1));
    play(begun, {}, 15);
    EXPECT_TRUE(std::isnan(begun.floor(0))) << "a round or two bound nothing";
}

// Whatever the machine does meanwhile: no difference is claimed that is not beyond the floor, none that is not there more often than was said, and
// one that is far beyond the floor is found.
TEST(Rounds, ClaimNothingWithinTheFloorOnAnyMachine) {
    constexpr std::uint64_t kPlays = 100;
    for (const Scatter kind : {Scatter::Normal, Scatter::HeavyTails, Scatter::Wandering, Scatter::SlowBlocks}) {
        int false_ = 0, large = 0, withheld = 0;
        for (std::uint64_t seed = 1; seed <= kPlays; ++seed) {
            RoundsRules rules = rulesOf(4, 30);
            rules.seed = seed;
            Rounds rounds(rules);
            play(rounds, {.seconds = {1e-3, 1e-3, 1.015e-3, 0.5e-3}, .scatter = 0.03, .kind = kind, .seed = seed + 1000});
            for (const std::size_t arm : {1u, 2u, 3u}) {
                const PairedVerdict verdict = rounds.verdict(arm, 0);
                const bool claimed = verdict.outcome == PairedOutcome::Faster || verdict.outcome == PairedOutcome::Slower;
                if (claimed) {
                    EXPECT_GT(std::abs(std::log(verdict.ratio)), std::log(rounds.floor(0))) << "arm " << arm << ", play " << seed;
                }
                false_ += arm == 1 && claimed;
                large += arm == 3 && verdict.outcome == PairedOutcome::Faster;
                if (verdict.reason != PairedReason::WithinFloor) continue;
                ++withheld;
                EXPECT_EQ(verdict.outcome, PairedOutcome::Inconclusive);
                EXPECT_FALSE(verdict.settled);
                EXPECT_THAT(rounds.judged(arm, 0).why, testing::HasSubstr("beside itself"));
            }
        }
        EXPECT_LE(false_, 5) << "of an arm that is the same, on machine " << static_cast<int>(kind);
        EXPECT_GE(large, 95) << "of an arm that is twice as fast, on machine " << static_cast<int>(kind);
        if (kind == Scatter::Normal) {
            EXPECT_GT(withheld, 0) << "the floor decided nothing, so nothing was tested";
        }
    }
}

// What the floor is said to hold: how far the first arm's two blocks of a round lie apart on average, which is nothing.
TEST(Rounds, HaveAFloorThatTheFirstArmBesideItselfStaysWithin) {
    constexpr std::uint64_t kPlays = 100;
    int beyond = 0;
    for (std::uint64_t seed = 1; seed <= kPlays; ++seed) {
        RoundsRules rules = rulesOf(2, 20);
        rules.seed = seed;
        Rounds rounds(rules);
        // The second arm is the first one under another name: its difference is one more draw of what the floor is of.
        play(rounds, {.scatter = 0.05, .seed = seed + 500});
        beyond += std::abs(std::log(rounds.verdict(1, 0).ratio)) > std::log(rounds.floor(0));
    }
    EXPECT_LE(beyond, 15) << "a draw and a bound of another one, both of which scatter";
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
