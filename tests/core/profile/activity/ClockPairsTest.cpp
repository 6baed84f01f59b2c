// A device's clock beside the session's: offsets, drift, moments that are no good. CTest.
#include <gtest/gtest.h>

#include <random>

#include "core/profile/activity/ClockPairs.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kAhead = 1'700'000'000'000'000'000;

TEST(ClockPairs, AreWithoutAMomentTheTimeItself) {
    EXPECT_EQ(ClockPairs().sessionTime(12345), 12345);
}

TEST(ClockPairs, FollowAClockThatRunsFaster) {
    constexpr double kRate = 1.0002;  // 200 ppm, more than a quartz is off
    ClockPairs clock;
    const auto device = [&](std::int64_t session) { return kAhead + static_cast<std::uint64_t>(static_cast<double>(session) * kRate); };
    for (std::int64_t session = 0; session <= 10'000'000'000; session += 200'000'000) clock.add({device(session + 1), session + 1, 100});
    std::mt19937_64 random(7);
    for (int i = 0; i < 1000; ++i) {
        const auto session = static_cast<std::int64_t>(random() % 10'000'000'000);
        EXPECT_NEAR(static_cast<double>(clock.sessionTime(device(session))), static_cast<double>(session), 3) << session;
    }
}

TEST(ClockPairs, KeepTheOrderOfTimesAndTheOffsetBesideTheMoments) {
    ClockPairs clock;
    clock.add({kAhead + 1000, 1000, 10});
    clock.add({kAhead + 2000, 2004, 10});
    EXPECT_EQ(clock.sessionTime(kAhead + 400), 400);
    EXPECT_EQ(clock.sessionTime(kAhead + 1500), 1502);
    EXPECT_EQ(clock.sessionTime(kAhead + 5000), 5004);
    std::int64_t before = 0;
    for (std::uint64_t at = 1; at < 4000; ++at) {
        const std::int64_t now = clock.sessionTime(kAhead + at);
        EXPECT_GE(now, before);
        before = now;
    }
}

TEST(ClockPairs, LeaveOutAMomentThatRunsBackwardsOrWasNotRead) {
    ClockPairs clock;
    clock.add({0, 5, 0});
    EXPECT_TRUE(clock.empty());
    clock.add({kAhead, 100, 0});
    clock.add({kAhead - 50, 200, 0});
    clock.add({kAhead + 50, 90, 0});
    EXPECT_EQ(clock.sessionTime(kAhead + 60), 160);
}

TEST(ClockPairs, TakeTheReadingThatTookLeast) {
    std::vector<ClockPairs::Moment> readings{{0, 0, 0}, {10, 1, 900}, {20, 2, 40}, {30, 3, 500}};
    std::size_t next = 0;
    EXPECT_EQ(ClockPairs::best(4, [&] { return readings[next++]; }).device, 20u);
}

TEST(ClockPairs, OfADayAreKeptInBounds) {
    ClockPairs clock;
    for (std::int64_t i = 1; i < 100'000; ++i) clock.add({kAhead + static_cast<std::uint64_t>(i) * 1000, i * 1000, 1});
    for (std::int64_t at = 1000; at < 99'000'000; at += 999) EXPECT_EQ(clock.sessionTime(kAhead + static_cast<std::uint64_t>(at)), at);
}

}  // namespace
}  // namespace stepscope
