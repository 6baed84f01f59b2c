// The roof of a trace is that of its GPUs where they are alike, else of the one that worked most.
#include <gtest/gtest.h>

#include "app/workbench/diagnose/RoofChoice.h"

namespace stepscope {
namespace {

GpuShape gpuOf(double bytesPerSecond, double float32 = 0) {
    GpuShape shape;
    shape.bytesPerSecond = bytesPerSecond;
    shape.float32 = float32;
    return shape;
}

Roof roofOfTrace(const GpuShapes& shapes, const std::vector<GpuWork>& worked = {}) {
    SessionInfo trace;
    trace.kind = SessionKind::Trace;
    return roofOf(trace, true, shapes, worked, nullptr);
}

TEST(RoofChoice, GpusThatAreAlikeHaveTheRoofOfEach) {
    const GpuShape gpu = gpuOf(2e12, 19e12);
    const GpuShapes shapes{.first = {{0, GpuShape{}}, {1, gpu}, {2, gpu}}, .ofRank = {}};
    for (const std::vector<GpuWork>& worked : {std::vector<GpuWork>{}, {{0, 1, {5}}, {0, 2, {7}}}}) {
        const Roof roof = roofOfTrace(shapes, worked);
        EXPECT_EQ(roof.bytesPerSecond, 2e12);
        EXPECT_EQ(roof.float32, 19e12);
        EXPECT_EQ(roof.source, "of GPU 1 by its clocks, not measured");
    }
}

TEST(RoofChoice, OfUnlikeGpusTheRoofIsThatOfTheOneThatWorkedMostAndItIsSaid) {
    const GpuShapes shapes{.first = {{0, gpuOf(1e12)}, {1, gpuOf(3e12)}}, .ofRank = {}};
    const Roof roof = roofOfTrace(shapes, {{0, 0, {5}}, {0, 1, {7}}});
    EXPECT_EQ(roof.bytesPerSecond, 3e12);
    EXPECT_EQ(roof.source, "of GPU 1, which worked most of unlike GPUs, by its clocks, not measured");
    EXPECT_EQ(roofOfTrace(shapes, {{0, 0, {9}}, {0, 1, {7}}}).bytesPerSecond, 1e12);
    EXPECT_EQ(roofOfTrace(shapes, {{0, 0, {9}}}).source, "of GPU 0 by its clocks, not measured") << "the other one did nothing";
    const Roof none = roofOfTrace(shapes);
    EXPECT_FALSE(none.known());
    EXPECT_EQ(none.whyNone, "no roof: the trace has unlike GPUs, and which of them worked is not known");
}

TEST(RoofChoice, TheGpuThatWorkedMostMayBeOneThatAnotherWorkersFileTellsOf) {
    const GpuShapes shapes{.first = {{0, gpuOf(1e12)}}, .ofRank = {{0, {{0, gpuOf(1e12)}}}, {1, {{0, gpuOf(3e12)}}}}};
    const Roof roof = roofOfTrace(shapes, {{0, 0, {5}}, {1, 0, {7}}});
    EXPECT_EQ(roof.bytesPerSecond, 3e12);
    EXPECT_EQ(roof.source, "of GPU 0 of rank 1, which worked most of unlike GPUs, by its clocks, not measured");
}

TEST(RoofChoice, WhereTheGpuThatWorkedMostIsNotToldThereIsNoRoof) {
    const GpuShapes shapes{.first = {{0, gpuOf(1e12)}}, .ofRank = {}};
    const Roof roof = roofOfTrace(shapes, {{0, 0, {5}}, {0, 1, {7}}});
    EXPECT_FALSE(roof.known());
    EXPECT_NE(roof.whyNone.find("how fast GPU 1, which worked most, computes"), std::string::npos) << roof.whyNone;
}

TEST(RoofChoice, HowLongGpusWorkedIsTheSumOfTheirStreams) {
    RangePanes panes;
    const auto stream = [&](std::int64_t rank, std::int64_t device, std::int64_t number, std::int64_t busy) {
        panes.streams.push_back({.rank = rank, .time = {.device = device, .stream = number, .busy = {busy}}, .launches = {}});
    };
    stream(0, 0, 7, 10);
    stream(0, 0, 8, 5);
    stream(0, 1, 7, 12);
    stream(1, 0, 7, 3);
    const auto worked = gpuWorkOf(panes);
    ASSERT_EQ(worked.size(), 3U);
    EXPECT_EQ(worked[0].time.ns, 15);
    EXPECT_EQ(worked[1].device, 1);
    EXPECT_EQ(worked[1].time.ns, 12);
    EXPECT_EQ(worked[2].rank, 1);
}

}  // namespace
}  // namespace stepscope
