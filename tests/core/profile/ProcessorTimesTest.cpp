// Whose the time of the processors was: on written lines of /proc/stat, and on the real one.
#include <gtest/gtest.h>

#include <sstream>

#include "core/profile/ProcessorTimes.h"

namespace stepscope {
namespace {

constexpr char kBefore[] = "cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1 2\n";
// In one second (100 ticks) a processor: 0 is busy for 60, idle for 30, stolen for 10; 1 is busy for 20 and idle for 80.
constexpr char kAfter[] = "cpu  90 0 10 80 0 0 0 10 0 0\ncpu0 40 5 10 25 5 3 2 10 0 0\ncpu1 20 0 0 80 0 0 0 0 0 0\nintr 1 2\n";

ProcessorTimes read(const char* text, const std::vector<int>& processors) {
    std::istringstream stat(text);
    const auto times = processorTimes(stat, processors);
    EXPECT_TRUE(times);
    return times.value_or(ProcessorTimes{});
}

TEST(ProcessorTimes, SaysWhatOthersAndTheHostTook) {
    const auto shares = sharesBetween(read(kBefore, {0, 1}), read(kAfter, {0, 1}), 500'000'000);
    ASSERT_TRUE(shares);
    EXPECT_NEAR(shares->othersPct, 15, 1e-9) << "80 of 200 ticks were busy, 50 of them ours";
    EXPECT_NEAR(shares->stealPct, 5, 1e-9);
}

TEST(ProcessorTimes, LooksOnlyAtTheProcessorsThatThisProcessMayUse) {
    const auto shares = sharesBetween(read(kBefore, {1}), read(kAfter, {1}), 0);
    ASSERT_TRUE(shares);
    EXPECT_NEAR(shares->othersPct, 20, 1e-9);
    EXPECT_NEAR(shares->stealPct, 0, 1e-9);
}

TEST(ProcessorTimes, CallsALittleLessThanNothingNothing) {
    const auto shares = sharesBetween(read(kBefore, {1}), read(kAfter, {1}), 230'000'000);
    ASSERT_TRUE(shares);
    EXPECT_EQ(shares->othersPct, 0);
}

TEST(ProcessorTimes, SaysNothingWhereTheCountersStandStillOrAreMissing) {
    EXPECT_FALSE(sharesBetween(read(kBefore, {0}), read(kBefore, {0}), 0));
    for (const char* text : {"", "cpu  1 2 3\n", "cpu0 1 2 3\n", "intr 5\n"}) {
        std::istringstream stat(text);
        EXPECT_FALSE(processorTimes(stat, {0})) << text;
    }
    std::istringstream stat(kAfter);
    EXPECT_FALSE(processorTimes(stat, {0, 7})) << "one of them is not there";
}

TEST(ProcessorTimes, ReadsThisMachine) {
    const auto processors = usableProcessors();
    ASSERT_FALSE(processors.empty());
    ASSERT_TRUE(processorTimes(processors));
}

}  // namespace
}  // namespace stepscope
