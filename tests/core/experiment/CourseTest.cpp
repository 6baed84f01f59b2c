// Which block comes next, what counts, when it ends: a course played over made-up steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/events/Experiment.h"
#include "core/experiment/Course.h"
#include "core/experiment/Judgement.h"
#include "tests/support/CoursePlayer.h"

namespace stepscope {
namespace {

StepSeries steady(double seconds, std::size_t count = 1000) {
    return {std::vector<double>(count, seconds), {}};
}

// All orders of a course over steps of one length, at most `most`.
std::vector<BlockOrder> ordersOf(CourseRules rules, double secondsAStep, std::size_t most = 10'000) {
    Course course(rules);
    std::vector<BlockOrder> orders;
    double elapsed = 0;
    while (orders.size() < most) {
        const auto order = course.next();
        if (!order) break;
        orders.push_back(*order);
        // A little scatter, so that nothing is decided at once.
        const double scatter = 1 + 0.05 * std::sin(static_cast<double>(orders.size()) * 12.9898);
        elapsed += static_cast<double>(order->warmUp) * secondsAStep;
        BlockTimes times = blockOf(*order, secondsAStep * scatter, 0);
        elapsed += times.seconds;
        times.elapsed = elapsed;
        course.done(times);
    }
    return orders;
}

TEST(Course, TakesPairsOfBothArmsWhoseOrderAFairCoinDecides) {
    const auto orders = ordersOf({.budgetSeconds = 2000, .delta = 0.0001}, 0.05);
    ASSERT_GT(orders.size(), 400u);
    std::int64_t firstIsA = 0, pairs = 0;
    for (std::size_t i = 0; i + 1 < orders.size(); i += 2) {
        EXPECT_FALSE(orders[i].second);
        EXPECT_TRUE(orders[i + 1].second);
        EXPECT_NE(orders[i].arm, orders[i + 1].arm);
        EXPECT_EQ(orders[i].pair, orders[i + 1].pair);
        firstIsA += orders[i].arm == Arm::A;
        ++pairs;
    }
    EXPECT_NEAR(static_cast<double>(firstIsA) / static_cast<double>(pairs), 0.5, 0.15);
}

TEST(Course, TossesTheSameCoinsForOneSeedAndOthersForAnother) {
    const auto arms = [](std::uint64_t seed) {
        std::vector<int> all;
        for (const auto& order : ordersOf({.seed = seed, .budgetSeconds = 100}, 0.05)) all.push_back(order.arm == Arm::A);
        return all;
    };
    EXPECT_EQ(arms(7), arms(7));
    EXPECT_NE(arms(7), arms(8));
}

TEST(Course, WhichOfBothIsMadeAnewFirstACoinDecidesToo) {
    const auto firsts = [](std::uint64_t seed) {
        std::vector<bool> all;
        for (const auto& order : ordersOf({.seed = seed, .budgetSeconds = 100}, 0.05))
            if (order.rebuild) all.push_back(order.builtFirst == Arm::A);
        return all;
    };
    EXPECT_EQ(firsts(7), firsts(7));
    double ofA = 0, all = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::vector<bool> made = firsts(seed);
        EXPECT_GE(made.size(), 6u) << seed;
        ofA += static_cast<double>(std::ranges::count(made, true));
        all += static_cast<double>(made.size());
    }
    EXPECT_NEAR(ofA / all, 0.5, 0.15) << "of " << all;
}

TEST(Course, HasBlocksOfATwentiethOfASecondAndOneStepAtLeastAndNoneLongerThanThePilots) {
    for (const double step : {0.001, 0.04, 0.4, 2.0}) {
        std::int64_t counted = 0;
        for (const auto& order : ordersOf({.budgetSeconds = 400}, step)) {
            if (order.pair < 0) {
                EXPECT_EQ(order.steps, 3) << step;
                EXPECT_EQ(order.leastSeconds, 0.5) << step;
                continue;
            }
            ++counted;
            EXPECT_GE(order.steps, 1) << step;
            EXPECT_GE(static_cast<double>(order.steps) * step, 0.045) << step;
            EXPECT_LE(static_cast<double>(order.steps), std::ceil(std::max(3.0, 0.55 / step))) << step;
            EXPECT_GE(order.warmUp, 1) << step;
        }
        EXPECT_GT(counted, 0) << step;
    }
}

// Each step scatters by itself: a turn costs a step, whatever the block's length, so that blocks of one step need two thirds more time than those of
// five. A machine whose speed wanders: the shortest is nearest to its neighbour.
TEST(Course, ThePilotChoosesTheLengthThatNeedsTheLeastTime) {
    int longer = 0, shortest = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> normal;
        StepSeries white = steady(0.2, 2000), wandering = steady(0.2, 2000);
        double speed = 0;
        for (std::size_t i = 0; i < white.seconds.size(); ++i) {
            white.seconds[i] *= std::exp(0.1 * normal(random));
            speed += 0.05 * normal(random) - 0.02 * speed;
            wandering.seconds[i] *= std::exp(speed);
        }
        const PlayOptions options{.rules = {.seed = seed, .budgetSeconds = 30}};
        longer += playCourse(white, options).plan()->steps[0] >= 2;
        shortest += playCourse(wandering, options).plan()->steps[0] == 1;
    }
    EXPECT_GE(longer, 26) << "of 40";
    EXPECT_GE(shortest, 26) << "of 40";
}

TEST(Course, GivesArmsOfTheSameBatchEqualStepsAndOthersEqualSeconds) {
    for (const bool equalSeconds : {false, true}) {
        Course course({.budgetSeconds = 100, .equalSeconds = equalSeconds});
        double elapsed = 0;
        std::array<std::int64_t, 2> steps{};
        while (const auto order = course.next()) {
            const double each = order->arm == Arm::A ? 0.02 : 0.05;
            BlockTimes times = blockOf(*order, each, 0);
            times.elapsed = elapsed += times.seconds;
            if (order->pair >= 0) steps[order->arm == Arm::A ? 0 : 1] = order->steps;
            course.done(times);
        }
        ASSERT_GT(steps[0] * steps[1], 0);
        if (equalSeconds) {
            EXPECT_NEAR(static_cast<double>(steps[0]) * 0.02, static_cast<double>(steps[1]) * 0.05, 0.051);
        } else {
            EXPECT_EQ(steps[0], steps[1]);
        }
    }
}

TEST(Course, DoesNotSpendTheBudgetOnAnArmThatIsManyTimesSlower) {
    PlayOptions options{.rules = {.budgetSeconds = 60}, .slowdownOfB = 100};
    const Course course = playCourse(steady(0.001, 100'000), options);
    ASSERT_TRUE(course.plan());
    EXPECT_LT(course.plan()->pairSeconds, 2);
    EXPECT_EQ(course.verdict().outcome, PairedOutcome::Slower);
    EXPECT_NEAR(course.verdict().ratio, 0.01, 1e-6);
}

TEST(Course, FindsHowManyStepsAfterATurnAreSlow) {
    PlayOptions options{.rules = {.budgetSeconds = 60}};
    options.slowAfterTurn = 3;
    options.slowBy = 1.5;
    const Course slow = playCourse(steady(0.03), options);
    ASSERT_TRUE(slow.plan());
    EXPECT_EQ(slow.plan()->warmUp[0], 3);
    EXPECT_EQ(slow.plan()->warmUp[1], 3);
    options.slowAfterTurn = 0;
    const Course flat = playCourse(steady(0.03), options);
    ASSERT_TRUE(flat.plan());
    EXPECT_EQ(flat.plan()->warmUp[0], 1);
}

TEST(Course, RebuildsBothArmsAtLeastSixTimesBeforeItClaimsAnything) {
    PlayOptions options{.rules = {.budgetSeconds = 300}, .slowdownOfB = 2};
    const Course course = playCourse(steady(0.03), options);
    const PairedVerdict verdict = course.verdict();
    EXPECT_EQ(verdict.outcome, PairedOutcome::Slower);
    EXPECT_GE(verdict.rebuilds, 6u);
    std::set<std::int32_t> instances;
    for (const auto& pair : course.pairs()) instances.insert(pair.rebuild);
    EXPECT_EQ(instances.size(), verdict.rebuilds);
    EXPECT_FALSE(instances.contains(0)) << "the pilot's instances count for nothing";
}

TEST(Course, MakesBothAnewNoMoreOftenThanTheShareOfTheTimeThatItMayTake) {
    const auto costOf = [](double share) {
        PlayOptions options{.rules = {.budgetSeconds = 400, .delta = 0.0001, .rebuildShare = share}, .rebuildSeconds = 0.1};
        StepSeries noisy = steady(0.05, 997);
        for (std::size_t i = 0; i < noisy.seconds.size(); ++i) noisy.seconds[i] *= 1 + 0.1 * std::sin(static_cast<double>(i * i % 997));
        const Course course = playCourse(noisy, options);
        EXPECT_GE(course.verdict().rebuilds, 6u) << share;
        return 0.1 * static_cast<double>(course.verdict().rebuilds) / course.elapsed();
    };
    EXPECT_LE(costOf(0.01), 0.0105);
    EXPECT_GT(costOf(0.25), 0.02) << "where nobody waits for the steps, instances are changed often";
    // So long that none would be made within the budget: the least number comes first.
    PlayOptions dear{.rules = {.budgetSeconds = 60, .rebuildShare = 0.0001}, .slowdownOfB = 2};
    EXPECT_GE(playCourse(steady(0.03), dear).verdict().rebuilds, 6u);
}

TEST(Course, StopsByItselfWhenItIsDecidedLongBeforeTheBudget) {
    PlayOptions options{.rules = {.budgetSeconds = 3600}, .slowdownOfB = 1.5};
    const Course course = playCourse(steady(0.03), options);
    EXPECT_EQ(course.verdict().outcome, PairedOutcome::Slower);
    EXPECT_LT(course.elapsed(), 120);
    EXPECT_NEAR(course.verdict().ratio, 1 / 1.5, 1e-6);
}

TEST(Course, DoesNotBeginAPairThatTheBudgetHasNoTimeFor) {
    for (const double budget : {5.0, 20.0, 47.0}) {
        StepSeries noisy = steady(0.05, 997);
        for (std::size_t i = 0; i < noisy.seconds.size(); ++i) noisy.seconds[i] *= 1 + 0.2 * std::sin(static_cast<double>(i * i % 997));
        const Course course = playCourse(noisy, {.rules = {.budgetSeconds = budget}});
        EXPECT_LE(course.elapsed(), budget * 1.15) << budget;
    }
}

TEST(Course, LeavesOutWholePairsForOtherProgramsTimeAloneAndTossesNewCoins) {
    StepSeries series = steady(0.05, 2000);
    series.others.assign(2000, 0.1);
    // Somebody compiles for a while, and the steps are as fast as ever: it is their time that counts, not ours.
    for (std::size_t i = 400; i < 800; ++i) series.others[i] = 1.5;
    for (std::size_t i = 0; i < series.seconds.size(); ++i) series.seconds[i] *= 1 + 0.05 * std::sin(static_cast<double>(i) * 78.233);
    const Course course = playCourse(series, {.rules = {.budgetSeconds = 90, .delta = 0.0001}});
    std::size_t left = 0;
    for (const auto& pair : course.pairs()) {
        left += pair.discarded;
        EXPECT_TRUE(!pair.discarded || std::isnan(pair.sameArm));
    }
    EXPECT_GE(left, 8u);
    EXPECT_LT(left, course.pairs().size());
    EXPECT_EQ(course.verdict().discarded, left);

    // A constant load is there in the pilot too: nothing is left out, and the interval says what it is worth.
    series.others.assign(2000, 1.5);
    const Course loaded = playCourse(series, {.rules = {.budgetSeconds = 60, .delta = 0.0001}});
    EXPECT_EQ(loaded.verdict().discarded, 0u);
    EXPECT_NEAR(loaded.othersMeanwhile(), 1.5, 1e-9);
    EXPECT_LT(course.othersMeanwhile(), 0.2) << "pairs that were left out do not count";
}

TEST(Course, SlowStepsAloneNeverLeaveAPairOut) {
    StepSeries series = steady(0.05, 500);
    series.others.assign(500, 0.0);
    for (std::size_t i = 0; i < 500; i += 37) series.seconds[i] = 0.9;
    const Course course = playCourse(series, {.rules = {.budgetSeconds = 90}});
    EXPECT_EQ(course.verdict().discarded, 0u);
}

TEST(Course, ComparesTwoBlocksOfOneArmInTurnAndGoesOnUntilThatIsBounded) {
    const Course course = playCourse(steady(0.02), {.rules = {.budgetSeconds = 200, .delta = 0.0006}});
    std::size_t same = 0;
    for (const auto& pair : course.pairs()) same += std::isfinite(pair.sameArm);
    EXPECT_TRUE(std::isnan(course.pairs().front().sameArm)) << "nothing that counts came before";
    EXPECT_GT(same, 5u);
    EXPECT_TRUE(std::isfinite(course.verdict().floor));
}

TEST(Course, OfADifferenceGoesOnUntilASideBesideItselfIsFarSmaller) {
    StepSeries series = steady(0.05, 2000);
    for (std::size_t i = 0; i < series.seconds.size(); ++i) series.seconds[i] *= 1 + 0.1 * std::sin(0.7 * static_cast<double>(i * i));
    const Course course = playCourse(series, {.rules = {.budgetSeconds = 900}, .slowdownOfB = 1.4});
    const PairedVerdict verdict = course.verdict();
    EXPECT_EQ(verdict.outcome, PairedOutcome::Slower);
    EXPECT_LE(std::log(verdict.floor), std::log(1.4) / 3 + 0.02);
    EXPECT_LT(course.elapsed(), 400) << "it did not need its budget";
}

TEST(Course, StoppedEarlySaysWhatItKnows) {
    Course course({.budgetSeconds = 600});
    double elapsed = 0;
    for (int blocks = 0; blocks < 60; ++blocks) {
        const auto order = course.next();
        ASSERT_TRUE(order);
        BlockTimes times = blockOf(*order, order->arm == Arm::A ? 0.05 : 0.0502 + 0.01 * (blocks % 3), 0);
        times.elapsed = elapsed += times.seconds;
        course.done(times);
    }
    course.stop();
    EXPECT_FALSE(course.next());
    const ExperimentJudged judged = judgementOf(course, true);
    EXPECT_TRUE(judged.over);
    EXPECT_GT(judged.pairs, 8);
    EXPECT_GT(judged.seconds, 0);
    EXPECT_LT(judged.ratio, 1);
    EXPECT_FALSE(judged.outcome.empty());
}

TEST(Course, StoppedInThePilotSaysThatNothingIsKnown) {
    Course course({});
    const auto order = course.next();
    ASSERT_TRUE(order);
    EXPECT_EQ(order->pair, -1);
    EXPECT_TRUE(order->rebuild);
    course.stop();
    const ExperimentJudged judged = judgementOf(course, true);
    EXPECT_EQ(judged.outcome, "inconclusive");
    EXPECT_EQ(judged.pairs, 0);
    EXPECT_THAT(judged.why, testing::HasSubstr("stopped"));
}

// waited: seconds before each block in which something else was done.
Course stoppedAfterThreePairs(EndedBy by, double waited = 0) {
    Course course({.budgetSeconds = 600});
    double elapsed = 0;
    while (course.pairs().size() < 3) {
        const auto order = course.next();
        BlockTimes times = blockOf(*order, 0.05, 0);
        times.elapsed = elapsed += times.seconds + waited;
        course.done(times);
    }
    course.stop(by);
    return course;
}

TEST(Course, SaysWhatEndedIt) {
    EXPECT_EQ(Course({}).endedBy(), EndedBy::Itself);
    const Course spent = playCourse(steady(1.5), {.rules = {.budgetSeconds = 30}});
    EXPECT_EQ(spent.endedBy(), EndedBy::Budget);
    EXPECT_THAT(judgementOf(spent, true).why, testing::StartsWith("The budget was spent"));
    EXPECT_THAT(judgementOf(stoppedAfterThreePairs(EndedBy::Person), true).why, testing::StartsWith("It was stopped after 3 pairs"));
    EXPECT_THAT(judgementOf(stoppedAfterThreePairs(EndedBy::RunsEnd), true).why, testing::StartsWith("The run ended after 3 pairs"));
}

TEST(Course, WhereSomethingElseTookItsTimeSaysHowMuchWouldDoWithThatAndNotThatItWasStopped) {
    const Course course = stoppedAfterThreePairs(EndedBy::Budget, 20);
    const ExperimentJudged judged = judgementOf(course, true);
    const double enough = judged.seconds + judged.secondsToGo;
    ASSERT_GT(enough, course.leastBudget() + 120) << "the pairs alone would not take that long";
    EXPECT_THAT(judged.why, testing::StartsWith("The budget was spent after 3 pairs"));
    EXPECT_THAT(judged.why, testing::HasSubstr("about " + std::to_string(std::lround(std::ceil(enough / 60))) + " minutes"));
}

TEST(Course, ABudgetTooSmallForAVerdictSaysHowMuchWouldDo) {
    const Course course = playCourse(steady(1.5), {.rules = {.budgetSeconds = 30}});
    const ExperimentJudged judged = judgementOf(course, true);
    EXPECT_EQ(judged.outcome, "inconclusive");
    EXPECT_EQ(judged.reason, "too-few-pairs");
    EXPECT_THAT(judged.why, testing::HasSubstr("least"));
    EXPECT_GE(judged.seconds + judged.secondsToGo, course.leastBudget() * 0.9) << "asked again with so much more it is enough";
    // Not even the pilot comes to its end: its pairs tell how long one takes.
    const Course slower = playCourse(steady(5), {.rules = {.budgetSeconds = 20}});
    ASSERT_FALSE(slower.plan());
    const ExperimentJudged unplanned = judgementOf(slower, true);
    EXPECT_THAT(unplanned.why, testing::HasSubstr("minutes"));
    EXPECT_GT(unplanned.secondsToGo, 8 * 30);
    EXPECT_TRUE(std::isnan(judgementOf(Course({}), true).secondsToGo)) << "nothing was measured";
}

TEST(Course, ABudgetThatWasSpentIsNeverSaidToHaveBeenMoreThanEnough) {
    Course course({.budgetSeconds = 60});
    double elapsed = 0;
    for (int blocks = 0; blocks < 10'000; ++blocks) {
        const auto order = course.next();
        if (!order) break;
        BlockTimes times = blockOf(*order, (course.plan() ? 8.0 : 0.1) * (1 + 0.1 * std::sin(static_cast<double>(blocks) * 12.9898)), 0);
        times.rebuildSeconds = order->rebuild ? 1.0 : 0;
        times.elapsed = elapsed += times.seconds + times.rebuildSeconds;
        course.done(times);
    }
    ASSERT_TRUE(course.plan());
    const ExperimentJudged judged = judgementOf(course, true);
    ASSERT_EQ(judged.reason, "too-few-pairs");
    const std::string about = "would have taken about ";
    const std::size_t at = judged.why.find(about);
    ASSERT_NE(at, std::string::npos) << judged.why;
    const double said = std::stod(judged.why.substr(at + about.size()));
    EXPECT_GT(judged.why.find("minutes") != std::string::npos ? said * 60 : said, course.elapsed()) << judged.why;
}

TEST(Course, TheLeastBudgetIsFixedWhenThePilotIsOver) {
    Course course({.budgetSeconds = 600});
    double elapsed = 0, fixed = 0;
    for (int blocks = 0; blocks < 80; ++blocks) {
        const auto order = course.next();
        if (!order) break;
        BlockTimes times = blockOf(*order, 0.05 + 0.01 * (blocks % 3), 0);
        times.elapsed = elapsed += times.seconds;
        course.done(times);
        if (!course.plan()) continue;
        if (fixed == 0) fixed = course.leastBudget();
        EXPECT_EQ(course.leastBudget(), fixed) << elapsed;
    }
    EXPECT_GT(fixed, 0);
    EXPECT_GT(elapsed, fixed) << "it was passed";
}

TEST(Course, GoesOnBeyondItsBudgetForSlowStepsUntilThereIsAnIntervalOrItsMost) {
    StepSeries slow = steady(0.9, 997);
    for (std::size_t i = 0; i < slow.seconds.size(); ++i) slow.seconds[i] *= 1 + 0.1 * std::sin(static_cast<double>(i * i % 997));
    const auto played = [&](double most) { return playCourse(slow, {.rules = {.budgetSeconds = 25, .mostSeconds = most}, .slowdownOfB = 1.5}); };
    EXPECT_LT(played(0).elapsed(), 25 * 1.3) << "a budget that somebody gave is kept";
    const Course bounded = played(300);
    EXPECT_GT(bounded.elapsed(), 30);
    EXPECT_LT(bounded.elapsed(), 300);
    EXPECT_TRUE(std::isfinite(bounded.verdict().high)) << bounded.elapsed();
    EXPECT_LT(played(60).elapsed(), 66);
}

TEST(Course, DoesNotWaitForAnIntervalBesideAProgramThatComputesAllDay) {
    StepSeries series = steady(0.05, 20'000);
    series.others.assign(series.seconds.size(), 0.1);
    // From just behind the pilot on: no pair counts any more.
    for (std::size_t i = 70; i < series.others.size(); ++i) series.others[i] = 1.5;
    const Course course = playCourse(series, {.rules = {.budgetSeconds = 25, .mostSeconds = 300}});
    ASSERT_TRUE(course.plan());
    EXPECT_LT(course.verdict().pairs, 8u);
    EXPECT_GT(course.verdict().discarded, 8u);
    EXPECT_LE(course.elapsed(), std::max(25.0, 1.25 * course.leastBudget()) + 1);
    EXPECT_LT(course.elapsed(), 60);
}

TEST(Course, ATimePerTokenIsComparedNotATimePerStep) {
    Course course({.budgetSeconds = 200, .equalSeconds = true});
    double elapsed = 0;
    while (const auto order = course.next()) {
        // B's steps take twice as long and train three times the tokens.
        BlockTimes times = blockOf(*order, order->arm == Arm::A ? 0.05 : 0.1, 0);
        if (order->arm == Arm::B) times.tokens *= 3;
        times.elapsed = elapsed += times.seconds;
        course.done(times);
    }
    EXPECT_EQ(course.verdict().outcome, PairedOutcome::Faster);
    EXPECT_NEAR(course.verdict().ratio, 1.5, 1e-9);
}

TEST(Course, TellsBeforehandWhatSlowStepsTake) {
    const CourseRules rules{.budgetSeconds = 25, .mostSeconds = 300};
    EXPECT_EQ(expectedSeconds(rules, 0.01, 0.02), 25);
    EXPECT_EQ(expectedSeconds(rules, std::nan(""), 1), 25) << "nothing is known";
    EXPECT_EQ(expectedSeconds(rules, 0, 1), 25);
    EXPECT_GT(expectedSeconds(rules, 0.5, 0.5), 25);
    EXPECT_GT(expectedSeconds(rules, 1, 1), expectedSeconds(rules, 1, 0.5));
    EXPECT_EQ(expectedSeconds(rules, 30, 30), 300) << "and no longer";
    EXPECT_GT(expectedSeconds(rules, 60, 60), 300) << "but what is begun is finished";
    EXPECT_GT(expectedSeconds(rules, 1, 0.01), 12 * 2 * 3) << "blocks of unlike sides are equally long";
}

TEST(Course, SaysHowMuchOfTheProcessorsTheHostTookFromEachArmWhereThatLeavesItOpen) {
    Course course({.budgetSeconds = 100});
    double elapsed = 0;
    while (const auto order = course.next()) {
        BlockTimes times = blockOf(*order, order->arm == Arm::A ? 0.02 : 0.02 + 0.001 * static_cast<double>(order->pair % 2), 0);
        times.elapsed = elapsed += times.seconds;
        times.stealPct = order->pair < 0 ? 50 : order->arm == Arm::A ? 2 : 8;  // the pilot's counts for nothing
        course.done(times);
        if (course.pairs().size() == 3) course.stop();
    }
    EXPECT_NEAR(course.stealMeanwhile(Arm::A), 2, 1e-9);
    EXPECT_NEAR(course.stealMeanwhile(Arm::B), 8, 1e-9);
    EXPECT_THAT(judgementOf(course, true).why,
                ::testing::HasSubstr("2.0 % of the processors' time to somebody else during the blocks of A and 8.0 %"));
    EXPECT_TRUE(std::isnan(Course({.budgetSeconds = 100}).stealMeanwhile(Arm::A))) << "nobody looked";
}

}  // namespace
}  // namespace stepscope
