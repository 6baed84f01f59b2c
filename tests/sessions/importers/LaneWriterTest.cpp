// How records of a lane become slices: how deep each lies and what it called, held against a tree that was made first; what overlaps without nesting;
// launches and what they started; and what cannot be, counted by its reason. The blocks that they are written as: LaneBlocksTest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "tests/sessions/importers/BuiltTrace.h"

namespace stepscope::test {
namespace {

using importing::Record;

TEST(LaneWriter, ATreeOfCallsComesBackWithItsDepthsAndWhatEachCalled) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 30; ++round) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        std::vector<Record> records;
        std::map<std::string, std::pair<std::int32_t, std::int64_t>> expected;  // by name: depth, called
        // Children side by side within their parent, now and then with no gap between; no two of one begin and length.
        const std::function<void(std::int64_t, std::int64_t, std::int32_t)> grow = [&](std::int64_t from, std::int64_t to, std::int32_t depth) {
            const std::string name = fmt::format("call {}", records.size());
            records.push_back(plainRecord(lane, from, to - from, built.trace.text(name)));
            std::int64_t called = 0;
            for (std::int64_t at = from + static_cast<std::int64_t>(random() % 3); depth < 6 && at + 3 < to;) {
                const std::int64_t end = std::min(to, at + 2 + static_cast<std::int64_t>(random() % 40));
                if (end - at == to - from) break;
                grow(at, end, depth + 1);
                called += end - at;
                at = end + static_cast<std::int64_t>(random() % 5);
            }
            expected[name] = {depth, called};
        };
        for (std::int64_t at = 0; records.size() < 300; at += 200) grow(at, at + 1 + static_cast<std::int64_t>(random() % 200), 0);
        std::ranges::shuffle(records, random);
        for (const Record& record : records) built.trace.slice(record);
        std::map<std::string, std::pair<std::int32_t, std::int64_t>> got;
        for (const auto& one : built.finish()) got[one.name] = {one.slice.depth, one.slice.called};
        EXPECT_EQ(got, expected) << "round " << round;
    }
}

TEST(LaneWriter, OfWhatOverlapsNoTwoOfARowMeetAndNobodyCallsMoreThanItLasts) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 60; ++round) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        built.trace.file().roundedNs = round % 3 == 0 ? 4 : 0;
        const std::size_t count = 150;
        for (std::size_t i = 0; i < count; ++i)
            built.trace.slice(plainRecord(lane, static_cast<std::int64_t>(random() % 400), static_cast<std::int64_t>(1 + random() % 60)));
        auto all = built.finish();
        EXPECT_EQ(all.size(), count);
        std::ranges::sort(all, {}, [](const BuiltSlice& one) { return std::pair(one.slice.depth, one.slice.start); });
        const std::int64_t rounded = built.trace.file().roundedNs;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Slice& slice = all[i].slice;
            EXPECT_GE(slice.called, 0);
            EXPECT_LE(slice.called, slice.duration);
            if (i > 0 && all[i - 1].slice.depth == slice.depth) {
                EXPECT_GE(slice.start + rounded, all[i - 1].slice.start + all[i - 1].slice.duration) << "row " << slice.depth;
            }
        }
    }
}

TEST(LaneWriter, WhatSeveralCoverTogetherCountsOnce) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    built.trace.slice(plainRecord(lane, 0, 100, built.trace.text("outer")));
    built.trace.slice(plainRecord(lane, 10, 50));
    built.trace.slice(plainRecord(lane, 40, 40));
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].name, "outer");
    EXPECT_EQ(all[0].slice.called, 70) << "from 10 to 80, whoever worked";
}

TEST(LaneWriter, LanesOfOneNumberInTwoFilesStayApart) {
    BuiltTrace built;
    built.trace.file().baseNs = 1000;
    built.trace.slice(plainRecord(*built.trace.lane("1", "2"), 0, 10, built.trace.text("a")));
    built.trace.beginFile(1);
    built.trace.file().baseNs = 5000;
    built.trace.slice(plainRecord(*built.trace.lane("1", "2"), 0, 10, built.trace.text("b")));
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].slice.start, 0);
    EXPECT_EQ(all[1].slice.start, 4000) << "each by its own clock";
    EXPECT_NE(all[0].thread.laneNumber(), all[1].thread.laneNumber());
    EXPECT_EQ(all[1].thread.rank, 1);
    EXPECT_EQ(built.trace.lastEndNs(), 4010);
}

TEST(LaneWriter, TimesThatDoNotFitAreLeftOutAndTheOthersKept) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    constexpr std::int64_t kFar = std::int64_t{1} << 61;
    built.trace.file().baseNs = std::numeric_limits<std::int64_t>::max() - 100;
    built.trace.slice(plainRecord(lane, -50, 10));
    built.trace.slice(plainRecord(lane, kFar, 1));
    built.trace.slice(plainRecord(lane, kFar + 1, 1));
    built.trace.slice(plainRecord(lane, 1, -1));
    EXPECT_EQ(built.finish().size(), 1U);
    EXPECT_EQ(built.reason("a time that does not fit"), 2);
    EXPECT_EQ(built.reason("a negative duration"), 1);
    EXPECT_EQ(built.trace.counts().skipped, 3);
}

TEST(LaneWriter, DurationsThatNoCaptureLastsAreLeftOutWithTheirSteps) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    constexpr std::int64_t kHundredDays = std::int64_t{100} * 24 * 3600 * 1'000'000'000;
    for (const std::int64_t duration : {kHundredDays, kHundredDays + 1, std::int64_t{1} << 61, std::numeric_limits<std::int64_t>::max()}) {
        built.trace.step(4, 0, duration);
        built.trace.slice(plainRecord(lane, 0, duration));
    }
    const auto all = built.finish();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].slice.duration, kHundredDays);
    EXPECT_EQ(built.reason("a duration of more than 100 days"), 3);
    EXPECT_EQ(built.trace.counts().skipped, 3);
    EXPECT_EQ(built.trace.counts().steps, 1);
}

TEST(LaneWriter, EachSliceHasTheStepThatGoesOnWhenItBegins) {
    BuiltTrace built;
    const auto lane = *built.trace.lane("1", "2");
    built.trace.step(7, 100, 50);
    built.trace.step(8, 150, 50);
    Record told = plainRecord(lane, 120, 5);
    told.step = 3;
    for (const std::int64_t at : {99, 100, 149, 150, 199, 200}) built.trace.slice(plainRecord(lane, at, 1));
    built.trace.slice(told);
    std::map<std::int64_t, std::int64_t> steps;
    for (const auto& one : built.finish(0)) steps[one.slice.start] = one.slice.step;
    EXPECT_EQ(steps, (std::map<std::int64_t, std::int64_t>{{99, kNoStep}, {100, 7}, {120, 3}, {149, 7}, {150, 8}, {199, 8}, {200, kNoStep}}));
}

TEST(LaneWriter, WhatADeviceDidBelongsToTheStepThatLaunchedItHoweverLateItRan) {
    for (const bool callsFirst : {true, false}) {
        BuiltTrace built;
        built.trace.step(7, 100, 50);
        built.trace.step(8, 150, 50);
        const auto record = [&](const char* name, SliceKind kind, std::uint32_t lane, std::int64_t at, std::int64_t correlation) {
            Record one = plainRecord(lane, at, 1, built.trace.text(name));
            one.kind = kind;
            one.correlation = correlation;
            return one;
        };
        const auto calls = [&] {
            const auto host = *built.trace.lane("1", "2"), other = *built.trace.lane("1", "3");
            built.trace.slice(record("before", SliceKind::Runtime, host, 10, 30));
            built.trace.slice(record("call", SliceKind::Runtime, host, 110, 40));
            built.trace.slice(record("call", SliceKind::Driver, other, 120, 44));
            built.trace.slice(record("call", SliceKind::Runtime, host, 130, 46));
            built.trace.slice(record("call", SliceKind::Runtime, other, 160, 50));
            built.trace.slice(record("no call", SliceKind::Operation, host, 160, 47));
            built.trace.slice(record("behind", SliceKind::Runtime, host, 210, 60));
            built.trace.slice(record("behind", SliceKind::Runtime, host, 220, 64));
        };
        if (callsFirst) calls();
        const auto stream = *built.trace.lane("0", "7");
        const auto work = [&](const char* name, SliceKind kind, std::int64_t at, std::int64_t correlation) {
            built.trace.slice(record(name, kind, stream, at, correlation));
        };
        work("late", SliceKind::Kernel, 170, 40);
        work("later", SliceKind::Kernel, 300, 40);  // of a graph: several of one launch
        work("by the driver", SliceKind::Memcpy, 172, 44);
        work("set", SliceKind::Memset, 174, 46);
        work("wait", SliceKind::Synchronisation, 176, 46);
        work("in time", SliceKind::Kernel, 178, 50);
        work("call not recorded", SliceKind::Kernel, 180, 42);
        work("launched outside", SliceKind::Kernel, 182, 30);
        work("launched behind", SliceKind::Kernel, 184, 64);
        work("between outside calls", SliceKind::Kernel, 186, 62);
        work("between steps", SliceKind::Kernel, 140, 47);
        work("before all calls", SliceKind::Kernel, 188, 5);
        work("behind all calls", SliceKind::Kernel, 190, 1000);
        work("without a number", SliceKind::Kernel, 192, 0);
        Record told = record("told", SliceKind::Kernel, stream, 194, 40);
        told.step = 3;
        built.trace.slice(told);
        if (!callsFirst) calls();
        std::map<std::string, std::int64_t> steps;
        for (const auto& one : built.finish(0))
            if (one.thread.thread == 7) steps[one.name] = one.slice.step;
        EXPECT_EQ(steps, (std::map<std::string, std::int64_t>{{"late", 7},
                                                              {"later", 7},
                                                              {"by the driver", 7},
                                                              {"set", 7},
                                                              {"wait", 7},
                                                              {"in time", 8},
                                                              {"call not recorded", 7},
                                                              {"launched outside", kNoStep},
                                                              {"launched behind", kNoStep},
                                                              {"between outside calls", 8},
                                                              {"between steps", 7},
                                                              {"before all calls", 8},
                                                              {"behind all calls", 8},
                                                              {"without a number", 8},
                                                              {"told", 3}}))
            << "calls first: " << callsFirst;
    }
}

TEST(LaneWriter, ALaunchOfAnotherFileOrOfOneOfTwoProcessesIsNobodysElse) {
    BuiltTrace built;
    const auto call = [&](const char* pid, std::int64_t at, std::int64_t duration, std::int64_t correlation) {
        Record one = plainRecord(*built.trace.lane(pid, "2"), at, duration);
        one.kind = SliceKind::Runtime;
        one.correlation = correlation;
        built.trace.slice(one);
    };
    const auto kernel = [&](const char* name, std::int64_t at, std::int64_t correlation) {
        Record one = plainRecord(*built.trace.lane("0", "7"), at, 1, built.trace.text(name));
        one.kind = SliceKind::Kernel;
        one.correlation = correlation;
        built.trace.slice(one);
    };
    built.trace.step(1, 100, 50);
    built.trace.step(2, 150, 50);
    call("1", 110, 20, 4);
    call("1", 112, 5, 5);
    call("1", 115, 20, 6);
    call("2", 160, 9, 5);  // two count alike
    call("1", 130, 9, 7);
    call("2", 170, 5, 7);
    call("1", 145, 9, 8);  // and one that holds what was called
    call("1", 151, 2, 8);  //   across a step's end
    kernel("of one of two", 170, 5);
    kernel("of one of two others", 171, 7);
    kernel("of one", 172, 4);
    kernel("of one again", 174, 6);
    kernel("of the outer one", 176, 8);
    built.trace.beginFile(1);
    built.trace.step(3, 100, 100);
    kernel("of another file", 110, 4);
    built.trace.beginFile(2);
    built.trace.step(4, 100, 100);
    call("1", 110, 1, 4);
    kernel("of the third", 250, 4);
    std::map<std::string, std::int64_t> steps;
    for (const auto& one : built.finish(0))
        if (one.slice.kind == SliceKind::Kernel) steps[one.name] = one.slice.step;
    EXPECT_EQ(steps, (std::map<std::string, std::int64_t>{{"of one of two", 2},
                                                          {"of one of two others", 2},
                                                          {"of one", 1},
                                                          {"of one again", 1},
                                                          {"of the outer one", 1},
                                                          {"of another file", 3},
                                                          {"of the third", 4}}));
}

TEST(LaneWriter, LaunchesAreJoinedAlsoWhereThereAreMoreThanAreHeldInMemory) {
    BuiltTrace built;
    constexpr std::int64_t kLaunches = 150'000, kSteps = 50;
    const auto host = *built.trace.lane("1", "2"), stream = *built.trace.lane("0", "7");
    for (std::int64_t step = 0; step < kSteps; ++step) built.trace.step(step, step * 100'000, 100'000);
    for (std::int64_t i = 0; i < kLaunches; ++i) {
        Record call = plainRecord(host, i * kSteps * 100'000 / kLaunches, 1), kernel = plainRecord(stream, 10'000'000 + i * 10, 5);
        call.kind = SliceKind::Runtime;
        kernel.kind = SliceKind::Kernel;
        call.correlation = kernel.correlation = 1000 + i * 3;
        built.trace.slice(kernel);
        built.trace.slice(call);
    }
    std::map<std::int64_t, std::int64_t> kernels;
    for (const auto& one : built.finish(0))
        if (one.slice.kind == SliceKind::Kernel) ++kernels[one.slice.step];
    EXPECT_EQ(kernels.size(), static_cast<std::size_t>(kSteps));
    for (const auto& [step, count] : kernels) EXPECT_EQ(count, kLaunches / kSteps) << step;
}

TEST(LaneWriter, ABackwardFunctionLearnsWhenItsForwardOperationBegan) {
    BuiltTrace built;
    const auto forward = *built.trace.lane("1", "2"), backward = *built.trace.lane("1", "3");
    built.trace.file().baseNs = 10'000;
    Record one = plainRecord(forward, 100, 10, built.trace.text("forward")), other = plainRecord(backward, 500, 10, built.trace.text("backward"));
    one.sequence = other.sequence = 4;
    other.forwardThread = 1;
    built.trace.slice(one);
    built.trace.slice(other);
    built.trace.slice(plainRecord(backward, 500, 5, built.trace.text("without a number")));
    built.trace.flow("fwdbwd", "1", true, 100, forward);
    built.trace.flow("fwdbwd", "1", false, 500, backward);
    built.trace.flow("fwdbwd", "2", false, 600, backward);
    std::map<std::string, Slice> named;
    std::map<std::string, std::int64_t> numbers;
    for (const auto& slice : built.finish(10'000)) {
        named[slice.name] = slice.slice;
        numbers[slice.name] = slice.thread.number;
    }
    EXPECT_EQ(named["backward"].forwardStart, 100) << "of the session's clock";
    EXPECT_EQ(named["forward"].forwardStart, 0);
    EXPECT_EQ(named["without a number"].forwardStart, 0);
    EXPECT_EQ(numbers["forward"], 1) << "who autograd's thread 1 is";
    EXPECT_EQ(built.trace.counts().flows, 1);
}

TEST(LaneWriter, OfACallThatNsightTellsTwiceTheOuterLaunchesAndWhatLiesBelowItIsTheDrivers) {
    for (const char* source : {"nsys", "kineto"}) {
        BuiltTrace built;
        const auto lane = *built.trace.lane("1", "2");
        built.trace.file().source = source;
        Record call = plainRecord(lane, 0, 100, built.trace.text("cudaLaunchKernel"));
        call.kind = SliceKind::Runtime;
        call.correlation = 5;
        built.trace.slice(call);
        call.start = 10;
        call.duration = 50;
        built.trace.slice(call);
        call.start = 20;
        call.duration = 20;
        call.name = built.trace.text("cuLaunchKernel");
        built.trace.slice(call);
        const auto all = built.finish();
        ASSERT_EQ(all.size(), 3U);
        EXPECT_EQ(built.trace.counts().runtimeCalls, 3) << "as many as the file has";
        EXPECT_EQ(built.trace.counts().driverCalls, 0);
        EXPECT_EQ(built.trace.counts().skipped, 0);
        const bool nsight = built.trace.file().source == "nsys";
        for (const auto& one : all) {
            const bool launches = one.slice.start == 0 || !nsight;
            EXPECT_EQ(one.slice.correlation, launches ? 5 : 0) << source << ", " << one.name << ": one of them launches, where they are one call";
            EXPECT_EQ(one.slice.kind, nsight && one.name == "cuLaunchKernel" ? SliceKind::Driver : SliceKind::Runtime) << source << ", " << one.name;
        }
    }
}

TEST(LaneWriter, OnlyTheOuterOfACallAndItsPartInTheDriverLaunches) {
    BuiltTrace built;
    const auto call = [&](const char* name, SliceKind kind, const char* tid, std::int64_t at, std::int64_t duration, std::int64_t correlation) {
        Record one = plainRecord(*built.trace.lane("1", tid), at, duration, built.trace.text(name));
        one.kind = kind;
        one.correlation = correlation;
        built.trace.slice(one);
    };
    call("runtime", SliceKind::Runtime, "2", 0, 100, 5);
    call("part", SliceKind::Driver, "2", 10, 20, 5);
    call("of its own", SliceKind::Driver, "2", 40, 20, 6);
    call("behind", SliceKind::Driver, "2", 100, 20, 5);
    call("of another thread", SliceKind::Driver, "3", 10, 20, 5);
    call("rounded part", SliceKind::Driver, "2", 200, 20, 7);  // its call comes later in the file, and is as long
    call("rounded", SliceKind::Runtime, "2", 200, 20, 7);
    std::map<std::string, std::int64_t> correlations;
    for (const auto& one : built.finish(0)) correlations[one.name] = one.slice.correlation;
    EXPECT_EQ(correlations,
              (std::map<std::string, std::int64_t>{
                  {"runtime", 5}, {"part", 0}, {"of its own", 6}, {"behind", 5}, {"of another thread", 5}, {"rounded part", 0}, {"rounded", 7}}));
    EXPECT_EQ(built.trace.counts().runtimeCalls, 2);
    EXPECT_EQ(built.trace.counts().driverCalls, 5) << "which is what it is, whatever it launches";
}

}  // namespace
}  // namespace stepscope::test
