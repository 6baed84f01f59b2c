// The roof of a trace is that of its GPUs where they are alike, and none where they are not.
#include <gtest/gtest.h>

#include "app/workbench/diagnose/RoofChoice.h"

namespace stepscope {
namespace {

Roof roofOfTrace(const std::map<std::int64_t, GpuShape>& shapes) {
    SessionInfo trace;
    trace.kind = SessionKind::Trace;
    return roofOf(trace, true, shapes, nullptr);
}

TEST(RoofChoice, GpusThatAreAlikeHaveTheRoofOfEach) {
    GpuShape gpu;
    gpu.bytesPerSecond = 2e12;
    gpu.float32 = 19e12;
    const Roof roof = roofOfTrace({{0, GpuShape{}}, {1, gpu}, {2, gpu}});
    EXPECT_EQ(roof.bytesPerSecond, 2e12);
    EXPECT_EQ(roof.float32, 19e12);
}

TEST(RoofChoice, UnlikeGpusHaveNoRoofAndItIsSaid) {
    GpuShape slow, fast;
    slow.bytesPerSecond = 1e12;
    fast.bytesPerSecond = 3e12;
    const Roof roof = roofOfTrace({{0, slow}, {1, fast}});
    EXPECT_FALSE(roof.known());
    EXPECT_EQ(roof.whyNone, "no roof: the trace has unlike GPUs");
}

}  // namespace
}  // namespace stepscope
