// Where arrows lead from a slice and where they do not: from a launch to its kernels and back, from a forward operation to its backward functions and
// back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

// One launch with kernels, and what else could be taken for them.
struct FlowTrace {
    MemoryTrace trace;
    TraceIndex index{trace};
    SliceBlock host{.thread = {.process = 1, .thread = 5, .number = 1, .name = "trainer"}, .strings = {"", "launch", "forward", "backward"}};
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 100, .device = 0}, .strings = {"", "kernel"}};

    void done() {
        if (!host.slices.empty()) trace.add(encodeSlices(host));
        if (!stream.slices.empty()) trace.add(encodeSlices(stream));
        trace.finish();
        ASSERT_TRUE(index.lanes());
    }
    std::vector<std::int64_t> from(std::int64_t lane, std::int64_t time, std::int32_t depth = 0) {
        const auto slice = index.at(lane, depth, time, 0);
        EXPECT_TRUE(slice && *slice);
        const auto ends = index.flows(**slice);
        EXPECT_TRUE(ends);
        std::vector<std::int64_t> starts;
        for (const auto& end : *ends) starts.push_back(end.slice.start);
        return starts;
    }
};

TEST(TraceFlows, StayWithinTheirRankAndGoFromHostToDevice) {
    FlowTrace flow;
    flow.host.slices = {{.start = 100, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 9},
                        {.start = 200, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 9}};
    flow.stream.slices = {{.start = 500, .duration = 5, .name = 1, .kind = SliceKind::Kernel, .correlation = 9}};
    SliceBlock other = flow.stream;
    other.thread.rank = 1;
    other.thread.lane = 101;
    other.slices[0].start = 400;
    flow.trace.add(encodeSlices(other));
    flow.done();
    EXPECT_THAT(flow.from(5, 101), testing::ElementsAre(500)) << "not the call beside it, and not the other worker's kernel";
    EXPECT_THAT(flow.from(100, 500), testing::UnorderedElementsAre(100, 200));
    EXPECT_TRUE(flow.from(101, 400).empty());
}

TEST(TraceFlows, AreFollowedToTheLastMinuteAndNoFurther) {
    FlowTrace flow;
    constexpr std::int64_t kMinute = 60'000'000'000;
    flow.host.slices = {{.start = 0, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 1},
                        {.start = 10, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 2},
                        {.start = 20, .duration = 5, .name = 1, .kind = SliceKind::Runtime}};
    flow.stream.slices = {{.start = kMinute, .duration = 5, .name = 1, .kind = SliceKind::Kernel, .correlation = 1},
                          {.start = 3 * kMinute, .duration = 5, .name = 1, .kind = SliceKind::Kernel, .correlation = 2},
                          {.start = 4 * kMinute, .duration = 5, .name = 1, .kind = SliceKind::Kernel}};
    flow.done();
    EXPECT_THAT(flow.from(5, 0), testing::ElementsAre(kMinute));
    EXPECT_TRUE(flow.from(5, 10).empty());
    EXPECT_TRUE(flow.from(5, 20).empty()) << "what has no number leads nowhere";
}

TEST(TraceFlows, AreSixtyFourAtMostHoweverManyStreamsThereAre) {
    FlowTrace flow;
    flow.host.slices = {{.start = 0, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 1}};
    for (std::int64_t lane = 0; lane < 8; ++lane) {
        SliceBlock stream = flow.stream;
        stream.thread.lane = 200 + lane;
        for (std::int64_t i = 0; i < 30; ++i)
            stream.slices.push_back({.start = 100 + 10 * i, .duration = 5, .name = 1, .kind = SliceKind::Kernel, .correlation = 1});
        flow.trace.add(encodeSlices(stream));
    }
    flow.done();
    EXPECT_EQ(flow.from(5, 0).size(), 64U);
}

TEST(TraceFlows, OfAForwardOperationAreItsBackwardFunctionsAndNotThoseOfItsNumberElsewhere) {
    FlowTrace flow;
    flow.host.slices = {
        {.start = 100, .duration = 10, .name = 2, .sequence = 4},
        {.start = 200, .duration = 10, .name = 2, .sequence = 4},
        {.start = 300, .duration = 10, .name = 3, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 1, .forwardStart = 100},
        {.start = 400, .duration = 10, .name = 3, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 1, .forwardStart = 200},
        {.start = 500, .duration = 10, .name = 3, .kind = SliceKind::Backward, .sequence = 5, .forwardThread = 2, .forwardStart = 100}};
    flow.done();
    EXPECT_THAT(flow.from(5, 105), testing::ElementsAre(300));
    EXPECT_THAT(flow.from(5, 205), testing::ElementsAre(400));
    EXPECT_THAT(flow.from(5, 305), testing::ElementsAre(100));
    EXPECT_TRUE(flow.from(5, 505).empty()) << "nothing of that number began then";
}

TEST(TraceFlows, OfABackwardFunctionWithoutAnArrowAreTheNearestForwardOperationsOfItsNumberAndNotTheStepOfTheEngine) {
    FlowTrace flow;
    flow.host.slices = {{.start = 100, .duration = 10, .name = 2, .sequence = 4},
                        {.start = 300, .duration = 30, .name = 1, .sequence = 4, .forwardThread = 1},
                        {.start = 305, .duration = 10, .name = 3, .depth = 1, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 1}};
    flow.done();
    EXPECT_THAT(flow.from(5, 307, 1), testing::ElementsAre(100));
    EXPECT_THAT(flow.from(5, 301), testing::ElementsAre(100)) << "of the step of the engine, too";
    EXPECT_THAT(flow.from(5, 105), testing::ElementsAre(305));
}

}  // namespace
}  // namespace stepscope
