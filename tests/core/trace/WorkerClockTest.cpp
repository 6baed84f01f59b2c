// Clocks of workers held beside the first one's: whatever they show, however fast they drift and however long messages take on the way, the true
// offset lies within the error that is told.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "core/trace/WorkerClocks.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

// Workers whose clocks differ; the first one's shows the true time. Messages take what they take, each way its own.
class Simulated {
public:
    struct Clock {
        double offset = 0, drift = 0;  // ns; it gains `drift` ns a ns
    };
    Simulated(std::vector<Clock> clocks, std::uint32_t seed) : m_clocks(std::move(clocks)), m_random(seed) {}

    std::int64_t shows(std::size_t worker, double truly) const {
        const Clock& clock = m_clocks[worker];
        return static_cast<std::int64_t>(std::floor((truly + clock.offset) * (1 + clock.drift)));
    }
    // ns at most of a message, which differs from worker to worker and way to way, and of what a worker does in between.
    std::vector<std::vector<std::int64_t>> exchange(double from, int gathers, double slowest) {
        const std::size_t workers = m_clocks.size();
        std::uniform_real_distribution<double> share(0, 1);
        std::vector<std::vector<double>> way(workers, std::vector<double>(workers));
        for (auto& ways : way)
            for (double& one : ways) one = slowest * share(m_random) * share(m_random);
        std::vector<double> at(workers);
        for (double& one : at) one = from + slowest * share(m_random);
        std::vector<std::vector<std::int64_t>> stamps;
        for (int gather = 0; gather < gathers; ++gather) {
            auto& row = stamps.emplace_back();
            for (std::size_t worker = 0; worker < workers; ++worker) row.push_back(shows(worker, at[worker]));
            std::vector<double> done = at;
            for (std::size_t to = 0; to < workers; ++to)
                for (std::size_t by = 0; by < workers; ++by)
                    if (by != to) done[to] = std::max(done[to], at[by] + way[by][to] * (0.2 + share(m_random)));
            for (std::size_t worker = 0; worker < workers; ++worker) at[worker] = done[worker] + 1000 * share(m_random);
        }
        return stamps;
    }
    std::mt19937& random() { return m_random; }

private:
    std::vector<Clock> m_clocks;
    std::mt19937 m_random;
};

std::vector<Simulated::Clock> someClocks(std::mt19937& random, std::size_t workers) {
    std::uniform_real_distribution<double> offset(-1e11, 1e11), drift(-0.9 * kMostDrift, 0.9 * kMostDrift);
    std::vector<Simulated::Clock> clocks(1);
    while (clocks.size() < workers) clocks.push_back({offset(random), drift(random)});
    return clocks;
}

TEST(WorkerClock, TheTrueOffsetLiesWithinTheErrorThatIsToldHoweverMessagesTravel) {
    std::mt19937 random(3);
    for (std::uint32_t round = 0; round < 300; ++round) {
        const std::size_t workers = 2 + random() % 4;
        const auto clocks = someClocks(random, workers);
        Simulated play(clocks, round);
        const double slowest = std::pow(10.0, 3 + static_cast<double>(random() % 5));
        const auto readings = clockReadings(play.exchange(1e12, 10, slowest));
        ASSERT_EQ(readings.size(), workers);
        EXPECT_EQ(readings[0].offset, 0);
        EXPECT_EQ(readings[0].error, 0);
        for (std::size_t worker = 1; worker < workers; ++worker) {
            const ClockReading& told = readings[worker];
            // What the first one's clock showed when this one's showed told.at.
            const double truly = static_cast<double>(told.at) / (1 + clocks[worker].drift) - clocks[worker].offset;
            EXPECT_LE(std::abs(truly - static_cast<double>(told.at + told.offset)), static_cast<double>(told.error) + 3) << "round " << round;
            EXPECT_LE(static_cast<double>(told.error), 4 * slowest + 4000) << "and it is no larger than messages were slow";
        }
    }
}

TEST(WorkerClock, BetweenAndBeyondExchangesTheTrueTimeLiesWithinTheErrorToo) {
    std::mt19937 random(5);
    for (std::uint32_t round = 0; round < 200; ++round) {
        const auto clocks = someClocks(random, 2);
        Simulated play(clocks, 1000 + round);
        const double slowest = std::pow(10.0, 4 + static_cast<double>(random() % 3));
        WorkerClock clock;
        double at = 1e12;
        for (auto left = 1 + random() % 6; left > 0; --left) {
            clock.add(clockReadings(play.exchange(at, 10, slowest))[1]);
            at += std::pow(10.0, 7 + static_cast<double>(random() % 5)) * (1 + static_cast<double>(random() % 9));
        }
        for (int span = 0; span < 10; ++span) {
            const double from = 1e12 + (at - 1e12) * (static_cast<double>(random() % 1500) / 1000 - 0.2);
            const double to = from + static_cast<double>(random() % 10'000'000'000);
            const ClockLine line = clock.over(play.shows(1, from), play.shows(1, to));
            for (const double truly : {from, (from + to) / 2, to})
                EXPECT_LE(std::abs(truly - static_cast<double>(line(play.shows(1, truly)))), static_cast<double>(line.error) + 4)
                    << "round " << round << ", drift " << clocks[1].drift;
        }
    }
}

TEST(WorkerClock, TwoExchangesFarApartTellTheDriftAndTwoNearEachOtherDoNot) {
    WorkerClock clock;
    clock.add({.at = 0, .offset = 1'000'000, .error = 20'000});
    clock.add({.at = 60'000'000'000, .offset = 1'000'000 - 600'000, .error = 20'000});  // it gains 10 millionths
    const ClockLine far = clock.over(30'000'000'000, 31'000'000'000);
    EXPECT_NEAR(far.drift, -10e-6, 1e-9);
    EXPECT_NEAR(static_cast<double>(far(30'000'000'000) - 30'000'000'000), 700'000, 5);
    EXPECT_LE(far.error, 20'001) << "no larger than that of the exchanges";

    WorkerClock near;
    near.add({.at = 0, .offset = 5000, .error = 20'000});
    near.add({.at = 10'000'000, .offset = -9000, .error = 30'000});
    const ClockLine level = near.over(0, 10'000'000);
    EXPECT_EQ(level.drift, 0) << "what looks like one is what the exchanges do not know";
    EXPECT_EQ(level.offset, 5000) << "of the better one";
    EXPECT_FALSE(driftBetween(near.readings()[0], near.readings()[1]).told());
}

TEST(WorkerClock, KeepsTheOrderOfWhatItMoves) {
    WorkerClock clock;
    clock.add({.at = 0, .offset = 77, .error = 10});
    clock.add({.at = 60'000'000'000, .offset = -4'000'000, .error = 10});
    const ClockLine line = clock.over(0, 60'000'000'000);
    ASSERT_NE(line.drift, 0);
    std::int64_t before = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t at = 0; at < 100'000; ++at) {
        EXPECT_GE(line(at), before);
        before = line(at);
    }
}

TEST(WorkerClock, WithoutAnExchangeNothingIsMovedAndNothingIsClaimed) {
    const ClockLine line = WorkerClock().over(5, 9);
    EXPECT_EQ(line(7), 7);
    EXPECT_EQ(line.error, std::numeric_limits<std::int64_t>::max());
    EXPECT_TRUE(clockReadings({}).empty());
    EXPECT_TRUE(clockReadings({{1, 2}, {3, 4}}).empty()) << "a reading takes three exchanges";
}

TEST(WorkerClocks, ComeBackAsTheyWereAndWhatIsCutOffIsRefusedWithItsPlace) {
    const WorkerClocks told{.at = 5000, .readings = {{4990, 0, 0}, {70, 4920, 12}, {-3, std::numeric_limits<std::int64_t>::min(), 1 << 20}}};
    const Chunk whole = encodeWorkerClocks(told);
    EXPECT_TRUE(checkChunk(whole));
    EXPECT_EQ(whole.count, 3);
    const auto back = decodeWorkerClocks(whole);
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(*back, told);
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        Chunk cut = whole;
        cut.bytes.resize(size);
        const auto read = decodeWorkerClocks(cut);
        ASSERT_FALSE(read) << size;
        EXPECT_THAT(read.error().sentence, HasSubstr("A block of workers' clocks is damaged at byte"));
    }
    Chunk longer = whole, other = whole, fewer = whole;
    longer.bytes.push_back(std::byte{0});
    EXPECT_THAT(decodeWorkerClocks(longer).error().sentence, HasSubstr("bytes follow its end"));
    other.kind = "worker-times/1";
    EXPECT_THAT(decodeWorkerClocks(other).error().sentence, HasSubstr("holds no clocks of workers"));
    fewer.count = 2;
    EXPECT_THAT(decodeWorkerClocks(fewer).error().sentence, HasSubstr("3 clocks, and its row says 2"));
}

}  // namespace
}  // namespace stepscope
