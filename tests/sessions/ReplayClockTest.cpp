// What time it is in a replay: when something is due at each speed, and what no speed may break. Real time is only ever compared with itself.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "sessions/ReplayClock.h"

namespace stepscope {
namespace {

constexpr double kNoSpeedLimit = std::numeric_limits<double>::infinity();
constexpr TimeNs kLastMoment{std::numeric_limits<std::int64_t>::max()};

double secondsUntil(const ReplayClock& clock, TimeNs from, TimeNs to) {
    return std::chrono::duration<double>(clock.realTimeOf(to) - clock.realTimeOf(from)).count();
}

TEST(ReplayClock, ASecondOfTheSessionTakesASecondDividedByTheSpeed) {
    ReplayClock clock;
    clock.set({5'000'000'000});
    for (const double speed : {1.0, 2.0, 0.25, 1000.0}) {
        clock.setSpeed(speed);
        EXPECT_NEAR(secondsUntil(clock, {5'000'000'000}, {6'000'000'000}), 1 / speed, 2e-9) << speed;
        EXPECT_NEAR(secondsUntil(clock, {5'500'000'000}, {7'000'000'000}), 1.5 / speed, 2e-9) << speed;
    }
}

TEST(ReplayClock, ASpeedThatIsNotAboveNothingIsTheOrdinaryOne) {
    ReplayClock clock;
    clock.set({});
    for (const double speed : {0.0, -3.0, std::nan("")}) {
        clock.setSpeed(100);
        clock.setSpeed(speed);
        EXPECT_NEAR(secondsUntil(clock, {}, {1'000'000'000}), 1, 2e-9) << speed;
    }
}

TEST(ReplayClock, WhatIsOverIsDueAtOnceAndNotBefore) {
    ReplayClock clock;
    clock.set({10'000'000'000});
    EXPECT_EQ(clock.realTimeOf({1'000'000'000}), clock.realTimeOf({10'000'000'000}));
    EXPECT_EQ(clock.realTimeOf({}), clock.realTimeOf({10'000'000'000}));
}

TEST(ReplayClock, StandsWhileItDoesNotRunWhateverTheSpeed) {
    ReplayClock clock;
    clock.set({1234});
    for (const double speed : {1.0, 1e9, kNoSpeedLimit}) {
        clock.setSpeed(speed);
        EXPECT_EQ(clock.now().ns, 1234) << speed;
        EXPECT_FALSE(clock.endless()) << speed;
    }
}

TEST(ReplayClock, RunsOnlyAsFastAsRealTimeTimesTheSpeed) {
    ReplayClock clock;
    for (const double speed : {1.0, 4.0}) {
        const auto before = std::chrono::steady_clock::now();
        clock.set({1000});
        clock.setSpeed(speed);
        clock.run(true);
        const std::int64_t first = clock.now().ns, second = clock.now().ns;
        const auto passed = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - before).count();
        EXPECT_GE(first, 1000);
        EXPECT_GE(second, first);
        EXPECT_LE(static_cast<double>(second), 1001 + passed * speed);
        clock.run(false);
        EXPECT_EQ(clock.now().ns, 1000) << "whoever stops it says first what time it is";
    }
}

TEST(ReplayClock, WithoutALimitEverythingIsDueNow) {
    ReplayClock clock;
    clock.set({1000});
    clock.setSpeed(kNoSpeedLimit);
    clock.run(true);
    EXPECT_TRUE(clock.endless());
    EXPECT_EQ(clock.now(), kLastMoment);
    EXPECT_EQ(clock.realTimeOf(kLastMoment), clock.realTimeOf({1000}));
}

TEST(ReplayClock, TheLastMomentAtTheSlowestSpeedIsLaterAndNoOverflow) {
    ReplayClock clock;
    clock.set({});
    clock.setSpeed(1e-300);
    EXPECT_GT(secondsUntil(clock, {}, kLastMoment), 2e9) << "tens of years";
    clock.setSpeed(1e300);
    clock.run(true);
    EXPECT_GE(clock.now().ns, 0);
}

}  // namespace
}  // namespace stepscope
