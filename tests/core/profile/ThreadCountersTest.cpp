// The counters of a thread over a kernel that the test plays: counted in turn with other programs and scaled, standing still, in error, not there,
// forbidden, too many files; and over the real one, which gives counts or a sentence.
#include <gtest/gtest.h>

#include "FakePerf.h"
#include "core/profile/counters/ThreadCounters.h"

namespace stepscope {
namespace {

using testing::FakePerf;

std::string whyNot(FakePerf& perf) {
    const auto opened = ThreadCounters::open(perf, 0);
    return opened ? "it was opened" : opened.error().sentence;
}

TEST(ThreadCounters, ReadAllOfAGroupAtOneInstant) {
    FakePerf perf;
    const auto counters = ThreadCounters::open(perf, 0);
    ASSERT_TRUE(counters) << counters.error().sentence;
    EXPECT_EQ(perf.open(), 4u);
    EXPECT_TRUE(perf.kernelExcluded) << "what perf_event_paranoid 2 allows";
    const CounterReading before = (*counters)->read();
    perf.ticks += 100;
    const auto counted = countedBetween(before, (*counters)->read());
    ASSERT_TRUE(counted);
    EXPECT_DOUBLE_EQ(counted->of(HardwareCounter::Cycles).value(), 400);
    EXPECT_DOUBLE_EQ(counted->of(HardwareCounter::Instructions).value(), 600);
    EXPECT_DOUBLE_EQ(counted->of(HardwareCounter::Misses).value(), 100);
    EXPECT_DOUBLE_EQ(counted->of(HardwareCounter::Stalled).value(), 100);
    EXPECT_DOUBLE_EQ(counted->share(), 1);
}

TEST(ThreadCounters, AreScaledWhereOtherProgramsCountInTurn) {
    FakePerf perf;
    const auto counters = ThreadCounters::open(perf, 0);
    ASSERT_TRUE(counters);
    const CounterReading before = (*counters)->read();
    perf.ticks += 100;
    perf.away += 75;
    const auto counted = countedBetween(before, (*counters)->read());
    ASSERT_TRUE(counted);
    EXPECT_DOUBLE_EQ(counted->counted[0], 100);
    EXPECT_DOUBLE_EQ(counted->of(HardwareCounter::Cycles).value(), 400);
    EXPECT_DOUBLE_EQ(counted->share(), 0.25);
}

TEST(ThreadCounters, ThatStandStillAreUnknownAndThoseOfASleepingThreadAreNone) {
    FakePerf perf;
    const auto counters = ThreadCounters::open(perf, 0);
    ASSERT_TRUE(counters);
    const CounterReading before = (*counters)->read();
    const auto asleep = countedBetween(before, (*counters)->read());
    ASSERT_TRUE(asleep);
    EXPECT_EQ(asleep->of(HardwareCounter::Cycles), 0.0);
    perf.ticks += 100;
    perf.away += 100;
    const auto still = countedBetween(before, (*counters)->read());
    ASSERT_TRUE(still);
    EXPECT_FALSE(still->of(HardwareCounter::Cycles)) << "no time that could be scaled";
    perf.inError = true;
    EXPECT_FALSE(countedBetween(before, (*counters)->read()));
}

TEST(ThreadCounters, OfAProcessorThatDoesNotCountStallsHaveTheRest) {
    FakePerf perf;
    perf.unknown = {PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_INSTRUCTIONS};
    const auto counters = ThreadCounters::open(perf, 0);
    ASSERT_TRUE(counters);
    EXPECT_FALSE((*counters)->has(HardwareCounter::Stalled));
    EXPECT_FALSE((*counters)->has(HardwareCounter::Instructions));
    ASSERT_TRUE((*counters)->has(HardwareCounter::Misses));
    const CounterReading before = (*counters)->read();
    perf.ticks += 10;
    EXPECT_DOUBLE_EQ(countedBetween(before, (*counters)->read())->of(HardwareCounter::Misses).value(), 10) << "the second of the group, and no other";
}

TEST(ThreadCounters, SayWhichItIsWhereThereAreNone) {
    FakePerf perf;
    for (const int error : {ENOENT, EOPNOTSUPP, ENODEV}) {
        perf.refused = error;
        EXPECT_NE(whyNot(perf).find("this machine exposes no counters"), std::string::npos) << whyNot(perf);
    }
    for (const int error : {EACCES, EPERM}) {
        perf.refused = error;
        perf.level = 4;
        EXPECT_NE(whyNot(perf).find("perf_event_paranoid = 4 forbids it; `sudo sysctl"), std::string::npos) << whyNot(perf);
        perf.level = 1;
        EXPECT_NE(whyNot(perf).find("in a container allow"), std::string::npos) << whyNot(perf);
    }
    perf.level.reset();
    EXPECT_NE(whyNot(perf).find("this kernel has none"), std::string::npos) << whyNot(perf);
    perf.level = 2;
    perf.refused = EINVAL;
    EXPECT_NE(whyNot(perf).find("cannot be opened (Invalid argument)"), std::string::npos) << whyNot(perf);
    EXPECT_EQ(perf.open(), 0u);
}

TEST(ThreadCounters, GiveBackWhatWasOpenedWhereFilesRunOut) {
    FakePerf perf;
    perf.mostOpen = 2;
    EXPECT_NE(whyNot(perf).find("too many open files"), std::string::npos) << whyNot(perf);
    EXPECT_EQ(perf.open(), 0u);
}

TEST(ThreadCounters, OfTheRealKernelCountOrSayWhyNot) {
    const auto counters = ThreadCounters::open(systemPerf(), 0);
    if (!counters) {
        EXPECT_TRUE(counters.error().sentence.starts_with("Hardware counters: ")) << counters.error().sentence;
        EXPECT_TRUE(counters.error().sentence.ends_with("all the same.")) << counters.error().sentence;
        return;
    }
    const CounterReading before = (*counters)->read();
    volatile int work = 0;
    for (int i = 0; i < 1'000'000; ++i) work = work + 1;
    const auto counted = countedBetween(before, (*counters)->read());
    ASSERT_TRUE(counted);
    EXPECT_GT(counted->of(HardwareCounter::Cycles).value_or(0), 10'000);
}

}  // namespace
}  // namespace stepscope
