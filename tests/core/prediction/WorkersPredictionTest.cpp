// What other numbers of workers are foretold to make of a step: the link is found again in times that it made, and the prediction keeps what must
// hold of it whatever was measured.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/prediction/WorkersPrediction.h"

namespace stepscope {
namespace {

std::vector<LinkTime> timesOver(const Link& link, std::int64_t workers, const std::vector<std::int64_t>& sizes) {
    std::vector<LinkTime> times;
    for (const std::int64_t bytes : sizes) times.push_back({.bytes = bytes, .seconds = sumSeconds(link, static_cast<double>(bytes), workers)});
    return times;
}

const std::vector<std::int64_t> kSizes{4 << 10, 256 << 10, 4 << 20};

WorkerStep step() {
    return {.work = 0.1, .backward = 0.06, .gradientBytes = 48 << 20, .bucketBytes = 4 << 20, .tokens = 1000};
}

TEST(WorkersPrediction, FindsTheLinkThatMadeTheTimes) {
    for (const std::int64_t workers : {2, 3, 8})
        for (const Link& made : {Link{.latency = 50e-6, .bytesPerSecond = 1e9}, Link{.latency = 1e-3, .bytesPerSecond = 1.25e8}}) {
            const Link found = linkOf(timesOver(made, workers, kSizes), workers);
            ASSERT_TRUE(found.known());
            EXPECT_NEAR(found.latency, made.latency, 1e-9 * made.latency + 1e-15);
            EXPECT_NEAR(found.bytesPerSecond, made.bytesPerSecond, 1e-6 * made.bytesPerSecond);
        }
}

TEST(WorkersPrediction, FindsItAmongTimesThatVaryByATenth) {
    std::mt19937_64 draw(3);
    std::uniform_real_distribution<double> about(0.9, 1.1);
    const Link made{.latency = 80e-6, .bytesPerSecond = 2e9};
    for (int round = 0; round < 200; ++round) {
        auto times = timesOver(made, 2, kSizes);
        for (LinkTime& time : times) time.seconds *= about(draw);
        const Link found = linkOf(times, 2);
        ASSERT_TRUE(found.known());
        // Of the smallest sum all but a fiftieth is latency, of the largest all but a tenth bytes: neither is off by much more than its times are.
        EXPECT_NEAR(found.latency / made.latency, 1, 0.2);
        EXPECT_NEAR(found.bytesPerSecond / made.bytesPerSecond, 1, 0.2);
    }
}

TEST(WorkersPrediction, KnowsNoLinkWhereTimesTellNone) {
    EXPECT_FALSE(linkOf({}, 2).known());
    EXPECT_FALSE(linkOf({{.bytes = 4096, .seconds = 1e-4}}, 2).known()) << "one size";
    EXPECT_FALSE(linkOf({{.bytes = 4096, .seconds = 1e-3}, {.bytes = 4 << 20, .seconds = 1e-4}}, 2).known()) << "more bytes in less time";
    EXPECT_FALSE(linkOf({{.bytes = -1, .seconds = 1e-3}, {.bytes = 4096, .seconds = std::nan("")}}, 2).known());
    EXPECT_FALSE(linkOf(timesOver({.latency = 1e-4, .bytesPerSecond = 1e9}, 2, kSizes), 1).known()) << "one worker has no link";
    // Times that would need a latency below nothing have none.
    const Link steep = linkOf({{.bytes = 1 << 20, .seconds = 1e-3}, {.bytes = 4 << 20, .seconds = 8e-3}}, 2);
    ASSERT_TRUE(steep.known());
    EXPECT_EQ(steep.latency, 0);
}

TEST(WorkersPrediction, OfOneWorkerIsWhatItWorks) {
    const WorkersPrediction one = predictWorkers(step(), {.latency = 1e-4, .bytesPerSecond = 1e9}, 1);
    EXPECT_EQ(one.seconds, 0.1);
    EXPECT_EQ(one.waiting, 0);
    EXPECT_EQ(one.times, 1);
    EXPECT_NEAR(one.tokensPerSecond, 10'000, 1e-6);
}

TEST(WorkersPrediction, AFastLinkHidesAllButTheLastBucketBehindBackward) {
    const Link link{.latency = 1e-6, .bytesPerSecond = 1e11};
    const WorkersPrediction eight = predictWorkers(step(), link, 8);
    EXPECT_NEAR(eight.waiting, sumSeconds(link, 4 << 20, 8) + 2 * 7 * link.latency, 1e-12);
    EXPECT_GT(eight.times, 7.9);
}

TEST(WorkersPrediction, ASlowLinkIsWaitedForAllButWhatBackwardHides) {
    const Link link{.latency = 0, .bytesPerSecond = 1e8};
    const WorkersPrediction eight = predictWorkers(step(), link, 8);
    const double sums = sumSeconds(link, 48 << 20, 8), untilTheFirst = step().backward / 12;
    EXPECT_NEAR(eight.waiting, untilTheFirst + sums - step().backward, 1e-9);
}

TEST(WorkersPrediction, NeverTellsMoreThanTheNumberOfWorkersNorLessTimeForMore) {
    std::mt19937_64 draw(5);
    std::uniform_real_distribution<double> exponent(-1, 1);
    const auto around = [&](double middle) { return middle * std::pow(30, exponent(draw)); };
    for (int round = 0; round < 500; ++round) {
        WorkerStep one = step();
        one.work = around(0.1);
        one.backward = 0.6 * one.work;
        one.gradientBytes = static_cast<std::int64_t>(around(1e8));
        const Link link{.latency = around(1e-4), .bytesPerSecond = around(1e9)};
        double before = one.work;
        for (const std::int64_t workers : {2, 3, 8, 64, 4096}) {
            const WorkersPrediction told = predictWorkers(one, link, workers);
            EXPECT_GE(told.seconds, before);
            EXPECT_LE(told.times, static_cast<double>(workers));
            EXPECT_NEAR(told.tokensPerSecond * told.seconds, 1000.0 * static_cast<double>(workers), 1e-6 * 1000.0 * static_cast<double>(workers));
            EXPECT_GE(told.waiting, sumSeconds(link, static_cast<double>(one.gradientBytes), workers) - one.backward);
            before = told.seconds;
        }
    }
}

}  // namespace
}  // namespace stepscope
