// The share of a device's peak that a range reached: on a CPU, on a GPU, and where the peak is not known.
#include <gtest/gtest.h>

#include "core/analysis/panes/ModelFlops.h"

namespace stepscope {
namespace {

// Two steps of 10 ms. On a CPU their operations compute 4 GFLOP, on a GPU what these launch.
RangePanes twoSteps(bool device, const std::string& type) {
    RangePanes panes;
    panes.devices = device;
    panes.totals.stepTime = {20'000'000};
    panes.steps.push_back({.device = device, .steps = 2, .window = {20'000'000}});
    PaneOperation operation{.row = {.name = "aten::mm", .flops = 4'000'000'000}};
    operation.type = type;
    panes.operations.push_back(operation);
    panes.operations.push_back({.row = {.name = "aten::relu"}});
    if (!device) return panes;
    panes.gpus.emplace_back();
    PaneKernel kernel;
    kernel.row.name = "gemm";
    kernel.row.flops = 3e9;
    kernel.row.type = type;
    panes.kernels.push_back(kernel);
    kernel.row.name = "relu";
    kernel.row.flops = 0;
    panes.kernels.push_back(kernel);
    return panes;
}

const Roof kMeasuredPeaks{.float32 = 1e12, .bf16 = 4e12, .bytesPerSecond = 1e11, .source = "measured on this machine"};
const Roof kDescribedPeaks{.float32 = 2e13, .bytesPerSecond = 1e12, .source = "of GPU 0 by its clocks, not measured"};

TEST(ModelFlops, AreThoseOfOperationsOnACpuOfThePeakOfTheirFormat) {
    const auto plain = modelFlops(twoSteps(false, "Float"), kMeasuredPeaks);
    ASSERT_TRUE(plain);
    EXPECT_DOUBLE_EQ(plain->perSecond, 2e11);
    EXPECT_DOUBLE_EQ(plain->share(), 0.2);
    EXPECT_EQ(plain->source, "measured on this machine");
    EXPECT_DOUBLE_EQ(modelFlops(twoSteps(false, "BFloat16"), kMeasuredPeaks)->share(), 0.05);
    EXPECT_DOUBLE_EQ(modelFlops(twoSteps(false, ""), kMeasuredPeaks)->peak, 4e12) << "nobody says the format: rather too little than too much";
}

TEST(ModelFlops, AreThoseOfKernelsOnAGpuOfItsMeasuredOrItsDescribedPeak) {
    const auto measured = modelFlops(twoSteps(true, "BFloat16"), kMeasuredPeaks);
    ASSERT_TRUE(measured);
    EXPECT_DOUBLE_EQ(measured->perSecond, 1.5e11) << "of kernels, not of the operations that launched them";
    EXPECT_DOUBLE_EQ(measured->share(), 1.5e11 / 4e12);
    const auto described = modelFlops(twoSteps(true, "Float"), kDescribedPeaks);
    ASSERT_TRUE(described);
    EXPECT_DOUBLE_EQ(described->share(), 1.5e11 / 2e13);
    EXPECT_EQ(described->source, "of GPU 0 by its clocks, not measured");
}

TEST(ModelFlops, AreNotOfAPeakThatNobodyKnows) {
    const auto half = modelFlops(twoSteps(true, "BFloat16"), kDescribedPeaks);
    ASSERT_TRUE(half);
    EXPECT_EQ(half->peak, 0) << "float32's says nothing of tensor cores";
    EXPECT_EQ(half->source, "the peak of bf16 is not known of this GPU");
    const auto none = modelFlops(twoSteps(true, "Float"), {.whyNone = "no roof: nobody measured"});
    ASSERT_TRUE(none);
    EXPECT_EQ(none->share(), 0);
    EXPECT_EQ(none->source, "no roof: nobody measured");
}

TEST(ModelFlops, AreNotSaidWhereNothingTellsThemOrSeveralDevicesCompute) {
    RangePanes panes = twoSteps(true, "Float");
    panes.kernels.clear();
    EXPECT_FALSE(modelFlops(panes, kMeasuredPeaks)) << "sizes were not recorded";
    panes = twoSteps(true, "Float");
    panes.gpus.emplace_back();
    EXPECT_FALSE(modelFlops(panes, kMeasuredPeaks)) << "two GPUs have no peak of one";
    panes = twoSteps(true, "Float");
    panes.totals.stepTime = {2'000'000};
    EXPECT_FALSE(modelFlops(panes, kMeasuredPeaks)) << "most of the time lies between captures";
    panes = twoSteps(false, "Float");
    panes.devices = true;
    EXPECT_FALSE(modelFlops(panes, kMeasuredPeaks)) << "its operations only launch";
    panes = twoSteps(false, "Float");
    panes.steps.front().steps = 0;
    EXPECT_FALSE(modelFlops(panes, kMeasuredPeaks));
}

}  // namespace
}  // namespace stepscope
