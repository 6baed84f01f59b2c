// What several workers took, in columns: nothing is lost by folding steps together, whatever comes, and the slow one is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/analysis/panes/WorkerMap.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMilli = 1'000'000;

// forward, backward and waiting of each worker, the same in every step.
WorkerTimes steps(std::int64_t from, std::int64_t count, const std::vector<std::array<std::int64_t, 3>>& workers) {
    WorkerTimes block{.phases = {"forward", "backward", "waiting"}, .workers = static_cast<std::int64_t>(workers.size()), .steps = {}, .ns = {}};
    for (std::int64_t i = 0; i < count; ++i) {
        block.steps.push_back({from + i, (from + i) * 100 * kMilli});
        for (const auto& times : workers)
            for (const std::int64_t ms : times) block.ns.push_back(ms * kMilli);
    }
    return block;
}

TEST(WorkerMap, HasAColumnAStepWhileTheyFit) {
    WorkerMap map(4);
    map.add(steps(7, 2, {{10, 20, 0}, {5, 15, 10}}));
    EXPECT_EQ(map.workers(), 2);
    EXPECT_EQ(map.steps(), 2);
    EXPECT_THAT(map.phases(), ElementsAre("forward", "backward", "waiting"));
    const WorkerGrid grid = map.grid("backward");
    ASSERT_EQ(grid.columns.size(), 2u);
    EXPECT_EQ(grid.columns[1].first, 8);
    EXPECT_EQ(grid.columns[1].last, 8);
    EXPECT_EQ(grid.at(grid.mean, 1, 1), 15.0 * kMilli);
    EXPECT_THAT(map.means(), ElementsAre(30.0 * kMilli, 30.0 * kMilli));
    EXPECT_THAT(map.means(WorkerMap::kWork), ElementsAre(30.0 * kMilli, 20.0 * kMilli));
    EXPECT_THAT(map.means("optimizer"), ElementsAre(0, 0)) << "a phase that nobody has";
}

TEST(WorkerMap, KeepsSumsAndTheSlowestStepHoweverManyStepsAreFoldedIntoAColumn) {
    std::mt19937 random(11);
    for (int round = 0; round < 60; ++round) {
        const std::size_t most = 2 + 2 * (random() % 20);
        const std::int64_t workers = 1 + static_cast<std::int64_t>(random() % 4);
        WorkerMap map(most);
        std::int64_t step = static_cast<std::int64_t>(random() % 1000), count = 0;
        std::vector<double> sum(static_cast<std::size_t>(workers)), longest(static_cast<std::size_t>(workers));
        for (int blocks = static_cast<int>(random() % 12); blocks >= 0; --blocks) {
            WorkerTimes block{.phases = {"forward", "waiting"}, .workers = workers, .steps = {}, .ns = {}};
            for (auto left = 1 + random() % 70; left > 0; --left) {
                block.steps.push_back({++step, step});
                ++count;
                for (std::size_t worker = 0; worker < sum.size(); ++worker) {
                    const std::int64_t forward = static_cast<std::int64_t>(random() % 1'000'000);
                    block.ns.push_back(forward);
                    block.ns.push_back(static_cast<std::int64_t>(random() % 1000));
                    sum[worker] += static_cast<double>(forward);
                    longest[worker] = std::max(longest[worker], static_cast<double>(forward));
                }
            }
            map.add(block);
        }
        ASSERT_EQ(map.steps(), count);
        const WorkerGrid grid = map.grid("forward");
        ASSERT_LE(grid.columns.size(), most);
        ASSERT_GE(grid.columns.size(), std::min<std::size_t>(most / 2, static_cast<std::size_t>(count)));
        std::int64_t covered = 0;
        for (std::size_t i = 0; i < grid.columns.size(); ++i) {
            ASSERT_LE(grid.columns[i].first, grid.columns[i].last);
            if (i > 0) {
                ASSERT_EQ(grid.columns[i].first, grid.columns[i - 1].last + 1);
            }
            covered += grid.columns[i].last - grid.columns[i].first + 1;
        }
        ASSERT_EQ(covered, count);
        const std::vector<double> means = map.means("forward");
        for (std::size_t worker = 0; worker < sum.size(); ++worker) {
            ASSERT_NEAR(means[worker], sum[worker] / static_cast<double>(count), 1e-6 * sum[worker]);
            double byColumns = 0, most2 = 0;
            for (std::size_t i = 0; i < grid.columns.size(); ++i) {
                const auto made = static_cast<double>(grid.columns[i].last - grid.columns[i].first + 1);
                byColumns += grid.at(grid.mean, static_cast<std::int64_t>(worker), i) * made;
                most2 = std::max(most2, grid.at(grid.most, static_cast<std::int64_t>(worker), i));
            }
            ASSERT_NEAR(byColumns, sum[worker], 1e-6 * sum[worker]);
            ASSERT_EQ(most2, longest[worker]);
        }
    }
}

TEST(WorkerMap, TakesABlockOfMoreWorkersAndOtherPhases) {
    WorkerMap map;
    map.add(steps(1, 3, {{10, 20, 0}}));
    WorkerTimes more{.phases = {"waiting", "new", "forward"}, .workers = 2, .steps = {{4, 400}}, .ns = {1, 2, 3, 4, 5, 6}};
    map.add(more);
    EXPECT_THAT(map.phases(), ElementsAre("forward", "backward", "waiting", "new"));
    EXPECT_THAT(map.means("new"), ElementsAre(2.0 / 4, 5.0));
    EXPECT_THAT(map.means("forward"), ElementsAre((3 * 10.0 * kMilli + 3) / 4, 6.0));
    const WorkerGrid grid = map.grid();
    EXPECT_TRUE(std::isnan(grid.at(grid.mean, 1, 0))) << "it was not there in the first step";
    EXPECT_EQ(grid.at(grid.mean, 1, 3), 15.0);
}

TEST(WorkerMap, BoundsWhatAMillionWorkersTake) {
    WorkerMap map;
    for (std::int64_t step = 1; step <= 6; ++step) {
        WorkerTimes block{.phases = {"forward"}, .workers = 1 << 19, .steps = {{step, step}}, .ns = {}};
        block.ns.assign(1 << 19, 7);
        map.add(block);
    }
    EXPECT_LE(map.grid().columns.size(), 2u);
    EXPECT_EQ(map.means().back(), 7.0);
}

TEST(WorkerMap, NamesTheSlowOneAndWithWhat) {
    WorkerMap map;
    map.add(steps(1, 100, {{30, 50, 20}, {30, 70, 0}, {30, 50, 20}}));
    const std::string said = map.slowest();
    EXPECT_THAT(said, HasSubstr("Worker 1 is the slow one"));
    EXPECT_THAT(said, HasSubstr("100"));
    EXPECT_THAT(said, HasSubstr("the others on average 80"));
    EXPECT_THAT(said, HasSubstr("is backward"));
}

TEST(WorkerMap, NamesNobodyWhereAllWorkAlike) {
    WorkerMap map;
    map.add(steps(1, 100, {{50, 49, 1}, {50, 50, 0}}));
    EXPECT_THAT(map.slowest(), HasSubstr("No worker is slower than the others"));
    WorkerMap alone;
    EXPECT_EQ(alone.slowest(), "");
    alone.add(steps(1, 5, {{50, 49, 1}}));
    EXPECT_EQ(alone.slowest(), "") << "one worker waits for nobody";
}

TEST(WorkerMap, SaysHowWellTheClocksAreKnownAndWhichDrifts) {
    WorkerMap map;
    EXPECT_EQ(map.clockWords(), "");
    const auto compared = [&](std::int64_t seconds, std::int64_t offset, std::int64_t error) {
        const std::int64_t at = seconds * 1'000'000'000;
        map.add(WorkerClocks{.at = at, .readings = {{at, 0, 0}, {at, offset, error}, {at, 7, 1000}}});
    };
    compared(0, 500'000, 30'000);
    EXPECT_THAT(map.clockWords(), HasSubstr("compared once: each one's times are known to within 30.0"));
    EXPECT_TRUE(std::isnan(map.clocks()[1].drift)) << "of one exchange nobody knows";
    compared(100, 500'000 - 2'000'000, 20'000);
    const auto clocks = map.clocks();
    ASSERT_EQ(clocks.size(), 3u);
    EXPECT_EQ(clocks[1].exchanges, 2);
    EXPECT_EQ(clocks[1].mostError, 30'000);
    EXPECT_EQ(clocks[1].lastError, 20'000);
    EXPECT_NEAR(clocks[1].drift, 20'000, 1) << "ns a second: its clock gains, so less and less is added";
    EXPECT_NEAR(clocks[1].driftError, 500, 1);
    EXPECT_THAT(map.clockWords(), HasSubstr("(worker 1's least well). That of worker 1 drifts most, by 20.0"));
    // The run was started anew: another process, another clock.
    compared(200, 40'000'000'000, 20'000);
    EXPECT_TRUE(std::isnan(map.clocks()[1].drift));
    compared(300, 40'000'000'000, 20'000);
    EXPECT_NEAR(map.clocks()[1].drift, 0, 1e-9);
    // Once more, and sooner: a process's clock begins anew with it, so it stands before where the other one's had come to.
    compared(5, 350'000'000'000, 20'000);
    EXPECT_TRUE(std::isnan(map.clocks()[1].drift));
    compared(105, 350'000'000'000 - 1'000'000, 20'000);
    EXPECT_NEAR(map.clocks()[1].drift, 10'000, 1);
}

}  // namespace
}  // namespace stepscope
