// What bounds an operation under a measured roof, and how what an operation computes is shared among the kernels that it launched.
#include <gtest/gtest.h>

#include "core/analysis/panes/OperationForms.h"
#include "core/analysis/panes/Roofline.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

// 100 GFLOP/s, 10 GB/s: the ridge lies at 10 FLOP a byte.
const Roof kRoof{.float32 = 1e11, .bf16 = 4e11, .bytesPerSecond = 1e10, .source = "measured"};

TEST(Roofline, WhatReachesHalfOfTheRoofAboveItIsBoundByThatSideOfTheRidge) {
    EXPECT_EQ(boundBy(5.1e10, 1e9, 1, "Float", kRoof).by, Bound::Compute);
    EXPECT_EQ(boundBy(1e9, 5.1e9, 1, "Float", kRoof).by, Bound::Memory);
    EXPECT_EQ(boundBy(4.9e10, 1e9, 1, "Float", kRoof).by, Bound::Neither);
    EXPECT_DOUBLE_EQ(boundBy(5e10, 1e9, 1, "Float", kRoof).share, 0.5);
    // Left of the ridge the roof is memory: 2 FLOP a byte, 20 GFLOP/s at most, and 15 are reached.
    const Bounded left = boundBy(1.5e10, 0.75e10, 1, "Float", kRoof);
    EXPECT_EQ(left.by, Bound::Memory);
    EXPECT_DOUBLE_EQ(left.share, 0.75);
    EXPECT_EQ(boundBy(6e10, 1e9, 1, "BFloat16", kRoof).by, Bound::Neither) << "bf16 has a higher roof";
}

TEST(Roofline, WhatIsNotKnownIsNotClaimed) {
    EXPECT_EQ(boundBy(0, 0, 1, "Float", kRoof).by, Bound::Unknown);
    EXPECT_EQ(boundBy(1e10, 1e9, 0, "Float", kRoof).by, Bound::Unknown);
    EXPECT_EQ(boundBy(1e10, 1e9, 1, "Half", kRoof).by, Bound::Unknown) << "its peak was not measured";
    EXPECT_EQ(boundBy(1e10, 1e9, 1, "Float", Roof{}).by, Bound::Unknown);
    EXPECT_EQ(boundBy(0, 9e9, 1, "", kRoof).by, Bound::Memory) << "without FLOP the roof is memory's";
    EXPECT_EQ(boundBy(9e10, 0, 1, "Float", kRoof).by, Bound::Compute);
    EXPECT_EQ(boundBy(9e10, 0, 1, "", kRoof).by, Bound::Unknown) << "float32 or bf16, nobody knows";
    EXPECT_EQ(boundBy(9e10, 0, 1, "", Roof{.float32 = 1e11, .bytesPerSecond = 1e10}).by, Bound::Compute) << "the one that was measured";
}

RangePanes rooflinePanes(const std::vector<SliceBlock>& blocks) {
    MemoryTrace trace;
    for (const auto& block : blocks) trace.add(encodeSlices(block));
    trace.finish();
    PanesReader reader(trace, {}, [] { return true; });
    EXPECT_TRUE(reader.open());
    auto panes = reader.read(0, 0);
    EXPECT_TRUE(panes);
    return panes ? std::move(*panes) : RangePanes{};
}

TEST(Roofline, FormAndThreadsOfAnOperationAreThoseOfMostOfItsTime) {
    SliceBlock first, second;
    first.thread = {.process = 1, .thread = 1, .name = "trainer"};
    first.strings = {"", "aten::mm", "norm + QKV", "aten::empty"};
    first.arguments.push_back({.text = "Float[4,4] Float[4,4]", .flops = 100, .bytes = 10});
    first.arguments.push_back({.text = "BFloat16[4,4] BFloat16[4,4]", .flops = 100, .bytes = 10});
    first.arguments.push_back({.flops = 100});  // of our own: no sizes
    first.slices = {{.start = 0, .duration = 100, .name = 1, .arguments = 1},
                    {.start = 200, .duration = 300, .called = 50, .name = 1, .arguments = 2},
                    {.start = 600, .duration = 100, .name = 2, .arguments = 3, .kind = SliceKind::Own},
                    {.start = 800, .duration = 100, .name = 3}};
    second = first;
    second.thread.thread = 2;
    second.slices = {first.slices[2]};
    OperationForms forms;
    forms.add(second);
    forms.add(first);
    EXPECT_EQ(forms.typeOf("aten::mm"), "BFloat16");
    EXPECT_EQ(forms.formatsOf("aten::mm"), "BFloat16 71 %, Float 29 %");
    EXPECT_EQ(forms.formatsOf("norm + QKV"), "");
    EXPECT_EQ(forms.threadsOf("aten::mm"), 1);
    EXPECT_EQ(forms.typeOf("norm + QKV"), "");
    EXPECT_EQ(forms.threadsOf("norm + QKV"), 2);
    EXPECT_EQ(forms.typeOf("aten::empty"), "") << "nothing is known of its work";
    EXPECT_EQ(forms.threadsOf("another"), 1);
}

TEST(Roofline, AProgramThatIsBuiltAnewHasOtherThreadsAndNotMoreOfThem) {
    OperationForms forms;
    for (std::int64_t step = 1; step <= 4; ++step)
        for (std::int64_t thread = 0; thread < 3; ++thread)
            for (std::int64_t rank = 0; rank < 2; ++rank) {
                SliceBlock block;
                block.thread = {.process = 1, .thread = thread == 0 ? 1 : 10 * step + thread, .rank = rank};
                block.strings = {"", "norm + QKV"};
                block.arguments.push_back({.flops = 100});
                block.slices = {{.start = step * 100, .duration = 10, .name = 1, .arguments = 1, .kind = SliceKind::Own, .step = step},
                                {.start = step * 100 + 20, .duration = 10, .name = 1, .arguments = 1, .kind = SliceKind::Own}};
                forms.add(block);
            }
    EXPECT_EQ(forms.threadsOf("norm + QKV"), 3);
}

TEST(Roofline, ADotIsWhatAnOperationComputesInItsOwnTime) {
    SliceBlock host;
    host.thread = {.process = 1, .thread = 1, .name = "trainer"};
    host.strings = {"", "aten::mm", "aten::add", "mlp/up"};
    host.arguments.push_back({.text = "Float[4,4] Float[4,4]", .flops = 10'000, .bytes = 500});
    host.arguments.push_back({.text = "BFloat16[4,4] BFloat16[4,4]", .flops = 20'000, .bytes = 500});
    host.arguments.push_back({.text = "Float[4]", .bytes = 100});
    host.slices = {{.start = 0, .duration = 100, .name = 1, .role = 3, .arguments = 1, .layer = 2},
                   {.start = 200, .duration = 400, .called = 100, .name = 1, .role = 3, .arguments = 2, .layer = 2},
                   {.start = 700, .duration = 100, .name = 2, .arguments = 3}};
    const RangePanes panes = rooflinePanes({host});
    const auto dots = operationDots(panes, kRoof);
    ASSERT_EQ(dots.size(), 1u);
    EXPECT_DOUBLE_EQ(dots[0].flopsPerSecond, 30'000 / 400e-9);
    EXPECT_DOUBLE_EQ(dots[0].intensity, 30);
    EXPECT_EQ(dots[0].type, "BFloat16") << "most of its time";
    EXPECT_DOUBLE_EQ(dots[0].share, 0.8);
    EXPECT_EQ(dots[0].role, "mlp/up");
    EXPECT_EQ(dots[0].longest.start, 200);
    EXPECT_TRUE(kernelDots(panes, kRoof).empty());
}

TEST(Roofline, ThreadsThatShareAnOperationDoItAtOnce) {
    std::vector<SliceBlock> blocks;
    for (std::int64_t thread = 1; thread <= 2; ++thread) {
        SliceBlock block;
        block.thread = {.process = 1, .thread = thread};
        block.strings = {"", "norm + QKV"};
        block.arguments.push_back({.flops = 8'000, .bytes = 100});
        block.slices = {{.start = 0, .duration = 100, .name = 1, .arguments = 1, .kind = SliceKind::Own}};
        blocks.push_back(block);
    }
    const RangePanes panes = rooflinePanes(blocks);
    const auto dots = operationDots(panes, {.float32 = 2e11, .bytesPerSecond = 1e10});
    ASSERT_EQ(dots.size(), 1u);
    EXPECT_EQ(dots[0].threads, 2);
    EXPECT_DOUBLE_EQ(dots[0].flopsPerSecond, 16'000 / 100e-9) << "both at once: 100 ns by the clock";
    EXPECT_EQ(dots[0].time.ns, 200);
    EXPECT_EQ(dots[0].bounded.by, Bound::Compute);
}

TEST(Roofline, TheKernelsOfAnOperationShareItsWorkByTheirTime) {
    SliceBlock host, device;
    host.thread = {.process = 1, .thread = 1};
    host.strings = {"", "aten::mm", "cudaLaunchKernel"};
    host.arguments.push_back({.text = "Half[8,8] Half[8,8]", .flops = 90'000, .bytes = 3'000});
    host.slices = {{.start = 0, .duration = 100, .name = 1, .arguments = 1, .external = 5},
                   {.start = 10, .duration = 5, .name = 2, .depth = 1, .kind = SliceKind::Runtime, .correlation = 70, .external = 5},
                   {.start = 200, .duration = 100, .name = 1, .external = 6}};
    device.thread = {.thread = 7, .lane = 77, .device = 0};
    device.strings = {"", "gemm", "reduce", "other"};
    device.slices = {{.start = 100, .duration = 200, .name = 1, .kind = SliceKind::Kernel, .correlation = 70},
                     {.start = 300, .duration = 100, .name = 2, .kind = SliceKind::Kernel, .external = 5},
                     {.start = 400, .duration = 100, .name = 3, .kind = SliceKind::Kernel, .external = 6}};
    const RangePanes panes = rooflinePanes({host, device});
    ASSERT_EQ(panes.kernels.size(), 3u);
    EXPECT_EQ(panes.kernels[0].row.name, "gemm");
    EXPECT_DOUBLE_EQ(panes.kernels[0].row.flops, 60'000);
    EXPECT_DOUBLE_EQ(panes.kernels[0].row.movedBytes, 2'000);
    EXPECT_EQ(panes.kernels[0].row.type, "Half");
    const auto dots = kernelDots(panes, {.fp16 = 3e11, .bytesPerSecond = 1e10});
    ASSERT_EQ(dots.size(), 2u) << "of the third the sizes were not recorded";
    EXPECT_DOUBLE_EQ(dots[0].flopsPerSecond, 3e11);
    EXPECT_DOUBLE_EQ(dots[0].intensity, 30);
    EXPECT_DOUBLE_EQ(dots[1].flopsPerSecond, 3e11) << "as a whole the operation reaches that";
}

}  // namespace
}  // namespace stepscope
