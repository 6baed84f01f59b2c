// A ladder's measurements in their order: what is beside what, what stays unmeasured, what goes on after a kill, and the figures of the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/events/Event.h"
#include "core/events/Study.h"
#include "core/experiment/LadderCourse.h"

namespace stepscope {
namespace {

Ladder threeRungs() {
    return parseLadder("bottom: {set: a=0}\nrungs: [a=1, b=1, c=1]\n", "mine.yaml", "mine").value();
}

std::string everythingGoes(const RungSet& a, const RungSet& b) {
    return a == b ? "the same" : "";
}

// What an experiment says of B beside A.
ExperimentHistory measured(double ratio, double low, double high) {
    ExperimentHistory history;
    history.add(ExperimentBegan{});
    for (const bool b : {false, true})
        history.add(
            BlockDone{.duration = TimeNs::fromSeconds(b ? 1 / ratio : 1.0), .pair = 0, .arm = b ? Arm::B : Arm::A, .steps = 10, .tokens = 100});
    history.add(ExperimentJudged{.pair = 0, .outcome = "faster", .ratio = ratio, .low = low, .high = high, .pairs = 20});
    history.add(ExperimentJudged{.over = true, .outcome = "faster", .ratio = ratio, .low = low, .high = high, .pairs = 20, .seconds = 20});
    return history;
}

std::vector<LadderLeg> playAll(LadderCourse& course, double ratio = 2) {
    std::vector<LadderLeg> legs;
    while (const auto leg = course.next(0)) {
        legs.push_back(*leg);
        course.done(measured(ratio, ratio - 0.5, ratio + 0.5), false);
    }
    return legs;
}

TEST(LadderCourse, MeasuresRungsThenTheTopThenTheTopWithoutEach) {
    LadderCourse course(threeRungs(), {}, everythingGoes);
    const auto legs = playAll(course);
    ASSERT_EQ(legs.size(), 6u);
    EXPECT_EQ(course.legs(), 6);
    EXPECT_EQ(legs[0].a, RungSet{});
    EXPECT_EQ(legs[0].b, RungSet{0});
    EXPECT_EQ(legs[2].a, (RungSet{0, 1}));
    EXPECT_EQ(legs[2].b, (RungSet{0, 1, 2}));
    EXPECT_EQ(legs[3].a, RungSet{}) << "the top is measured beside the bottom itself";
    EXPECT_EQ(legs[3].b, (RungSet{0, 1, 2}));
    EXPECT_EQ(legs[4].a, (RungSet{1, 2}));
    EXPECT_EQ(legs[5].a, (RungSet{0, 2})) << "without the last rung it is the rung below, which was measured";
    for (const auto& leg : legs) EXPECT_DOUBLE_EQ(leg.alpha, 0.05 / 6);
}

TEST(LadderCourse, CumulativeFiguresAreProductsAndTheTopIsWhatWasMeasured) {
    LadderCourse course(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    playAll(course);
    const auto& rows = course.rows();
    EXPECT_EQ(rows[0].role, study::kBottom);
    EXPECT_DOUBLE_EQ(rows[0].msPerStep, 100);
    EXPECT_DOUBLE_EQ(rows[1].msPerStep, 50);
    EXPECT_DOUBLE_EQ(rows[3].total, 8);
    EXPECT_DOUBLE_EQ(rows[3].totalLow, 1.5 * 1.5 * 1.5);
    EXPECT_DOUBLE_EQ(rows[3].totalHigh, 2.5 * 2.5 * 2.5);
    EXPECT_EQ(rows[4].role, study::kTop);
    EXPECT_DOUBLE_EQ(rows[4].total, 2);
}

TEST(LadderCourse, TheBottomWaitsUntilThereIsAFigureOfIt) {
    LadderCourse course(threeRungs(), {}, everythingGoes);
    course.next(0);
    course.update({});  // as it is told when its session opens
    EXPECT_EQ(course.rows()[0].state, study::kWaiting);
    course.update(measured(2, 1.5, 2.5));
    EXPECT_EQ(course.rows()[0].state, study::kMeasured);
    EXPECT_DOUBLE_EQ(course.rows()[0].msPerStep, 100);
    LadderCourse broken(threeRungs(), {}, everythingGoes);
    broken.next(0);
    broken.failed("There is no memory left.", {});
    EXPECT_EQ(broken.rows()[0].state, study::kWaiting) << "no step of it was made";
    broken.next(0);
    broken.done(measured(2, 1.5, 2.5), false);
    EXPECT_EQ(broken.rows()[0].state, study::kMeasured) << "beside the next rung";
    LadderCourse later(threeRungs(), {}, everythingGoes);
    later.next(0);
    later.failed("B diverged.", measured(2, 1.5, 2.5));
    later.next(0);
    later.update({});
    EXPECT_EQ(later.rows()[0].state, study::kMeasured) << "what is known of it stays until more is";
    EXPECT_DOUBLE_EQ(later.rows()[0].msPerStep, 100);
}

TEST(LadderCourse, ARungThatCannotRunStaysWithItsReasonAndNothingStandsOnIt) {
    const auto whyNot = [](const RungSet& a, const RungSet& b) -> std::string {
        for (const RungSet* set : {&a, &b})
            if (std::ranges::find(*set, 1u) != set->end()) return "it needs a GPU.";
        return {};
    };
    LadderCourse course(threeRungs(), {}, whyNot);
    EXPECT_EQ(course.rows()[2].state, study::kSkipped);
    EXPECT_EQ(course.rows()[2].why, "it needs a GPU.");
    const auto legs = playAll(course);
    ASSERT_EQ(legs.size(), 4u) << "two rungs, the top, the top without the first";
    EXPECT_EQ(legs[1].a, RungSet{0});
    EXPECT_EQ(legs[1].b, (RungSet{0, 2}));
    EXPECT_EQ(course.rows().size(), 6u);
}

TEST(LadderCourse, ARungThatBreaksOffIsLeftOutOfWhatIsBuiltOnIt) {
    LadderCourse course(threeRungs(), {}, everythingGoes);
    course.next(0);
    course.done(measured(2, 1.5, 2.5), false);
    course.next(0);
    course.failed("B diverged.", {});
    const auto leg = course.next(0);
    EXPECT_EQ(leg->a, RungSet{0});
    EXPECT_EQ(leg->b, (RungSet{0, 2}));
    EXPECT_EQ(course.rows()[2].state, study::kFailed);
    EXPECT_EQ(course.rows()[2].why, "B diverged.");
    course.done(measured(2, 1.5, 2.5), false);
    EXPECT_DOUBLE_EQ(course.rows()[3].total, 4);
}

// What a rung needed broke off: it is left out, and what is above it does not stand on it.
TEST(LadderCourse, ARungThatIsRefusedLateIsLeftOutOfWhatIsBuiltOnIt) {
    const auto needsTheSecond = [](const RungSet&, const RungSet& b) -> std::string {
        const auto has = [&b](std::size_t rung) { return std::ranges::find(b, rung) != b.end(); };
        return has(1) || !has(2) ? "" : "it needs the second.";
    };
    Ladder four = threeRungs();
    four.rungs.push_back(four.rungs.back());
    LadderCourse course(four, {.leaveOneOut = false}, needsTheSecond);
    course.next(0);
    course.done(measured(2, 1.5, 2.5), false);
    course.next(0);
    course.failed("B diverged.", {});
    const auto fourth = course.next(0);
    ASSERT_TRUE(fourth);
    EXPECT_EQ(course.rows()[3].why, "it needs the second.");
    EXPECT_EQ(fourth->b, (RungSet{0, 3}));
    course.done(measured(3, 2.5, 3.5), false);
    EXPECT_EQ(course.next(0)->b, (RungSet{0, 3})) << "the top";
}

TEST(LadderCourse, PairsAreMeasuredOnRequestAndTheirCostIsKnownBefore) {
    LadderCourse course(threeRungs(), {.pairs = true}, everythingGoes);
    EXPECT_EQ(course.legs(), 9);
    const auto unknown = [](const RungSet&) { return kUnknown; };
    EXPECT_NEAR(course.expected(unknown).pairs, kLeastByDefault / 3, 1e-6);
    EXPECT_NEAR(course.expected(unknown).seconds, kLeastByDefault, 1e-6);
    EXPECT_EQ(LadderCourse(threeRungs(), {}, everythingGoes).expected(unknown).pairs, 0);
    const auto slow = course.expected([](const RungSet&) { return 2.0; });
    EXPECT_EQ(slow.waiting, 5) << "what comes after the rungs has no time,";
    EXPECT_EQ(slow.pairs, 0) << "so it takes none";
    const auto legs = playAll(course);
    EXPECT_EQ(legs[6].a, RungSet{2});
    const StudyRow& row = course.rows()[static_cast<std::size_t>(legs[6].row)];
    EXPECT_EQ(row.role, study::kPair);
    EXPECT_DOUBLE_EQ(row.total, 0.5) << "2 together, 2 x 2 apart";
    EXPECT_LT(row.totalLow, row.total);
    EXPECT_TRUE(std::isfinite(course.rows().back().total)) << "the last rung's own is in its rung";
    EXPECT_EQ(course.expected(unknown).pairs, 0) << "what is measured takes nothing any more";
}

TEST(LadderCourse, WhatTheTopLacksAnywayIsNotMeasuredAsIfItHadBeenThere) {
    const auto ladder = [] { return parseLadder("bottom: {set: a=0}\nrungs: [a=1, b=1, c=1, d=1]\n", "mine.yaml", "mine").value(); };
    for (const std::size_t broken : {std::size_t{1}, std::size_t{3}}) {
        LadderCourse course(ladder(), {.pairs = true}, everythingGoes);
        for (std::size_t rung = 0; rung < 4; ++rung) {
            ASSERT_TRUE(course.next(0));
            if (rung == broken)
                course.failed("There is no memory left.", measured(9, 8, 10));
            else
                course.done(measured(2, 1.5, 2.5), false);
        }
        // Each is worth 2 by itself, so two of them 4 and all three 8.
        while (const auto leg = course.next(0)) {
            const double apart = std::pow(2, static_cast<double>(leg->b.size() - leg->a.size()));
            EXPECT_LT(leg->a.size(), leg->b.size());
            course.done(measured(apart, apart * 0.9, apart * 1.1), false);
        }
        int pairs = 0;
        for (const StudyRow& row : course.rows()) {
            if (row.role != study::kPair && row.role != study::kWithout) continue;
            const bool gone = row.name.find(ladder().rungs[broken].name) != std::string::npos;
            EXPECT_EQ(row.state, gone ? study::kSkipped : study::kMeasured) << row.name;
            EXPECT_EQ(row.why.find("anyway") != std::string::npos, gone) << row.why;
            if (row.role == study::kPair && !gone) {
                ++pairs;
                EXPECT_DOUBLE_EQ(row.total, 1) << row.name << ": what both give is what each gives";
            }
        }
        EXPECT_EQ(pairs, 3);
    }
}

TEST(LadderCourse, ARungThatCouldNotRunThenAndCanNowStaysOutWhereWhatIsAboveItWasMeasuredWithoutIt) {
    const auto notTheSecond = [](const RungSet& a, const RungSet& b) {
        return b == RungSet{0, 1} || (b.size() == 2 && b[1] == 1) ? std::string("This machine has no GPU.") : everythingGoes(a, b);
    };
    LadderCourse first(threeRungs(), {.leaveOneOut = false}, notTheSecond);
    EXPECT_EQ(first.rows()[2].state, study::kSkipped);
    first.next(0);
    first.done(measured(2, 1.5, 2.5), false);
    LadderCourse early(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    early.restore(first.rows());
    EXPECT_EQ(early.next(0)->row, 2) << "nothing stands on it yet";
    first.next(0);
    first.done(measured(3, 2.5, 3.5), false);
    LadderCourse second(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    second.restore(first.rows());
    EXPECT_EQ(second.rows()[2].state, study::kSkipped);
    EXPECT_EQ(second.rows()[2].why, "This machine has no GPU.");
    EXPECT_EQ(second.next(0)->b, (RungSet{0, 2})) << "the top is what was measured";
}

TEST(LadderCourse, SaysBeforehandThatSlowRungsTakeLonger) {
    const LadderCourse course(threeRungs(), {}, everythingGoes);
    const auto nothing = course.expected([](const RungSet&) { return kUnknown; });
    EXPECT_NEAR(nothing.seconds, kLeastByDefault, 1e-6) << "where nothing was timed the budget is all that is known";
    EXPECT_EQ(nothing.slowest, 0);
    const auto fast = course.expected([](const RungSet&) { return 0.01; });
    EXPECT_NEAR(fast.seconds, kLeastByDefault, 1e-6);
    EXPECT_EQ(fast.slowest, 0.01);
    EXPECT_EQ(fast.waiting, 0);
    // A bottom of two seconds a step: 8 x 1.75 pairs of 2 x 4 steps and the pilot, in each of the rungs that are as slow as it.
    const auto slow = course.expected([](const RungSet& rungs) { return rungs.empty() ? 2.0 : kUnknown; });
    EXPECT_EQ(slow.slowest, 2) << "what was not timed takes as long as what it stands on";
    EXPECT_NEAR(slow.seconds, 4 * (8 * 1.25 + 2) * 2 * (3 + 1) * 2, 1e-6);
    EXPECT_EQ(slow.waiting, 2) << "what comes after the rungs has no time";
    // Only the bottom is slow: the first rung and the top beside it take long.
    const auto bottom = course.expected([](const RungSet& rungs) { return rungs.empty() ? 2.0 : 0.1; });
    EXPECT_LT(bottom.seconds, slow.seconds);
    EXPECT_GT(bottom.seconds, kLeastByDefault);
    // With so slow a step that its leg breaks off, what it is cut at.
    EXPECT_NEAR(course.expected([](const RungSet&) { return 10.0; }).seconds, 4 * kLongestLegByDefault, 1e-6);
    const LadderCourse given(threeRungs(), {.leaveOneOut = false, .budgetSeconds = 100}, everythingGoes);
    EXPECT_NEAR(given.expected([](const RungSet&) { return 0.5; }).seconds, 100, 1e-6) << "a budget is kept";
}

TEST(LadderCourse, TimeThatOneDidNotNeedIsThereForTheOthers) {
    LadderCourse course(threeRungs(), {.leaveOneOut = false, .budgetSeconds = 100}, everythingGoes);
    EXPECT_DOUBLE_EQ(course.next(0)->budgetSeconds, 25);
    course.done(measured(2, 1, 3), false);
    EXPECT_DOUBLE_EQ(course.next(10)->budgetSeconds, 30);
    course.done(measured(2, 1, 3), false);
    const auto late = course.next(200);
    EXPECT_DOUBLE_EQ(late->budgetSeconds, kLeastLegSeconds);
    EXPECT_EQ(late->mostSeconds, 0) << "a budget that was given is kept";
    EXPECT_GT(LadderCourse(threeRungs(), {}, everythingGoes).next(0)->mostSeconds, kSecondsALeg);
}

TEST(LadderCourse, WithoutABudgetRungsAreMeasuredHoweverSlowAndWhatComesAfterThemWaits) {
    LadderCourse course(threeRungs(), {}, everythingGoes);
    for (int i = 0; i < 4; ++i) {
        EXPECT_GE(course.next(1000.0 * i)->budgetSeconds, kSecondsALeg);
        course.done(measured(2, 1, 3), false);
    }
    EXPECT_FALSE(course.next(4000).has_value());
    EXPECT_EQ(course.rows()[5].state, study::kSkipped);
    EXPECT_THAT(course.rows()[5].why, testing::HasSubstr("larger budget"));
}

TEST(LadderCourse, WhenABudgetIsWellSpentOnlyTheRungsThemselvesAreStillMeasured) {
    LadderCourse course(threeRungs(), {.budgetSeconds = 60}, everythingGoes);
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(course.next(70.0 * i)) << "rungs and the top, however late";
        course.done(measured(2, 1, 3), false);
    }
    EXPECT_FALSE(course.next(280).has_value());
    EXPECT_THAT(course.rows()[5].why, testing::HasSubstr("the 60 s of this ladder were spent"));
    EXPECT_TRUE(course.rows()[5].waits);
    LadderCourse quick(threeRungs(), {.budgetSeconds = 60}, everythingGoes);
    for (int i = 0; i < 6; ++i) {
        ASSERT_TRUE(quick.next(12.0 * i)) << "a little late is in time";
        quick.done(measured(2, 1, 3), false);
    }
}

TEST(LadderCourse, WhatWasDecidedIsKeptWhenItGoesOnAndTheRestIsMeasured) {
    LadderCourse first(threeRungs(), {}, everythingGoes);
    first.next(0);
    first.done(measured(2, 1.5, 2.5), false);
    first.next(0);
    first.update(measured(3, 1, 9));  // and killed here
    LadderCourse second(threeRungs(), {}, everythingGoes);
    second.restore(first.rows());
    EXPECT_EQ(second.rows()[1].state, study::kMeasured);
    EXPECT_DOUBLE_EQ(second.rows()[1].ratio, 2);
    EXPECT_DOUBLE_EQ(second.rows()[0].msPerStep, 100);
    EXPECT_EQ(second.next(0)->row, 2) << "it was cut off in the middle";
    // Rows of another ladder, and a stranger's numbers, are no part of this one.
    LadderCourse third(threeRungs(), {}, everythingGoes);
    third.restore({StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .settings = "z=1", .ratio = 9},
                   StudyRow{.row = -5, .role = study::kRung}, StudyRow{.row = 4'000'000'000, .role = study::kTop}});
    EXPECT_EQ(third.next(0)->row, 1);
}

TEST(LadderCourse, ARungThatBrokeOffStaysOutWhereWhatIsAboveItWasMeasuredWithoutIt) {
    LadderCourse first(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    first.next(0);
    first.done(measured(2, 1.5, 2.5), false);
    first.next(0);
    first.failed("B diverged.", {});
    LadderCourse again(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    again.restore(first.rows());
    EXPECT_EQ(again.next(0)->row, 2) << "nothing stands on it yet: it is tried again";
    first.next(0);
    first.done(measured(3, 2.5, 3.5), false);
    LadderCourse second(threeRungs(), {.leaveOneOut = false}, everythingGoes);
    second.restore(first.rows());
    EXPECT_EQ(second.rows()[2].state, study::kFailed);
    EXPECT_EQ(second.rows()[2].why, "B diverged.");
    EXPECT_DOUBLE_EQ(second.rows()[3].total, 6);
    const auto top = second.next(0);
    ASSERT_TRUE(top);
    EXPECT_EQ(top->row, 4);
    EXPECT_EQ(top->b, (RungSet{0, 2})) << "the top is what was measured, and no rung is measured on another base";
}

TEST(LadderCourse, OneThatIsStoppedKeepsItsFiguresAndIsMeasuredAgainLater) {
    LadderCourse course(threeRungs(), {}, everythingGoes);
    course.next(0);
    course.done(measured(2, 1.5, 2.5), true);
    EXPECT_EQ(course.rows()[1].state, study::kWaiting);
    EXPECT_DOUBLE_EQ(course.rows()[1].ratio, 2);
    EXPECT_FALSE(std::isfinite(course.rows()[1].total));
}

TEST(LadderCourse, OfWhichNothingCanBeMeasuredEndsAtOnce) {
    LadderCourse course(threeRungs(), {.pairs = true}, [](const RungSet&, const RungSet&) { return "not here."; });
    EXPECT_EQ(course.legs(), 0);
    EXPECT_EQ(course.expected([](const RungSet&) { return 0.1; }).pairs, 0);
    EXPECT_FALSE(course.next(0).has_value());
    EXPECT_EQ(course.rows().size(), 4u);
}

}  // namespace
}  // namespace stepscope
