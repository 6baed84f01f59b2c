// What the panes of a timeline are made of: nested slices of a lane, flame graphs in both directions, the classes of a step's time against every
// nanosecond of it, the map of layers, and what memory was alive at its highest point.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/analysis/panes/FlameTree.h"
#include "core/analysis/panes/LayerMap.h"
#include "core/analysis/panes/MemoryCurve.h"
#include "core/analysis/panes/StepDivision.h"
#include "core/base/SumLaunch.h"

namespace stepscope {
namespace {

NestedSlice nested(std::int64_t start, std::int64_t end, std::uint32_t text, std::int32_t depth, SliceKind kind = SliceKind::Operation,
                   WorkClass work = WorkClass::Pointwise) {
    return {.start = start, .end = end, .text = text, .depth = depth, .kind = kind, .work = work};
}

// step > forward > (linear > mm), gelu; step > backward > mm
const std::vector<std::string> kTexts{"step", "forward", "aten::linear", "aten::mm", "aten::gelu", "backward"};
std::vector<NestedSlice> someLane() {
    std::vector<NestedSlice> slices{nested(0, 100, 0, 0, SliceKind::Step, WorkClass::Host),
                                    nested(5, 50, 1, 1, SliceKind::Phase, WorkClass::Host),
                                    nested(10, 30, 2, 2, SliceKind::Operation, WorkClass::Host),
                                    nested(12, 28, 3, 3, SliceKind::Operation, WorkClass::MatrixProducts),
                                    nested(30, 45, 4, 2),
                                    nested(50, 95, 5, 1, SliceKind::Phase, WorkClass::Host),
                                    nested(60, 90, 3, 2, SliceKind::Operation, WorkClass::MatrixProducts)};
    std::ranges::reverse(slices);  // in whatever order they come
    nestLane(slices);
    return slices;
}

TEST(LaneNest, GivesEachSliceItsCallerAndItsOwnTime) {
    const auto slices = someLane();
    std::vector<std::int64_t> self;
    for (const auto& one : slices) self.push_back(one.self);
    EXPECT_EQ(self, (std::vector<std::int64_t>{100 - 45 - 45, 45 - 20 - 15, 20 - 16, 16, 15, 45 - 30, 30}));
    EXPECT_EQ(slices[3].parent, 2);
    EXPECT_EQ(slices[6].parent, 5);
    EXPECT_EQ(slices[0].parent, -1);
    EXPECT_TRUE(std::ranges::all_of(slices, &NestedSlice::inStep));
}

TEST(LaneNest, WhatIsTangledNeverHasLessThanNoTimeOfItsOwn) {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<NestedSlice> slices;
        for (int i = 0; i < 30; ++i) {
            const auto start = static_cast<std::int64_t>(random() % 100);
            slices.push_back(nested(start, start + static_cast<std::int64_t>(random() % 40), static_cast<std::uint32_t>(i % 6),
                                    static_cast<std::int32_t>(random() % 5)));
        }
        nestLane(slices);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            EXPECT_GE(slices[i].self, 0);
            EXPECT_LE(slices[i].self, slices[i].length());
            EXPECT_LT(slices[i].parent, static_cast<std::int32_t>(i));
        }
    }
}

TEST(FlameTree, TopDownEachNodeIsItsOwnTimeAndThatOfWhatItCalled) {
    FlameTree tree;
    tree.add("trainer", someLane(), kTexts);
    const auto& nodes = tree.nodes();
    EXPECT_EQ(nodes[0].total, 100);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::int64_t sum = nodes[i].self;
        for (const auto child : nodes[i].children) sum += nodes[child].total;
        EXPECT_EQ(nodes[i].total, sum) << tree.name(static_cast<std::uint32_t>(i));
    }
    // The same callers again: the same nodes with twice the time.
    tree.add("trainer", someLane(), kTexts);
    EXPECT_EQ(tree.nodes().size(), 9u) << "root, lane and the seven";
    EXPECT_EQ(tree.nodes()[0].total, 200);
    EXPECT_EQ(tree.nodes()[2].calls, 2);
}

TEST(FlameTree, BottomUpTheTopRowIsTheOwnTimeByName) {
    FlameTree tree;
    tree.add("trainer", someLane(), kTexts);
    const FlameTree turned = tree.bottomUp();
    const auto& nodes = turned.nodes();
    std::map<std::string, std::int64_t> top;
    for (const auto child : nodes[0].children) top[turned.name(child)] = nodes[child].total;
    EXPECT_EQ(top.at("aten::mm"), 46) << "of forward and backward together";
    EXPECT_EQ(top.at("aten::gelu"), 15);
    EXPECT_EQ(top.at("step"), 10);
    EXPECT_EQ(nodes[0].total, 100);
    const auto mm = *std::ranges::find_if(nodes[0].children, [&](std::uint32_t child) { return turned.name(child) == "aten::mm"; });
    EXPECT_EQ(nodes[mm].calls, 2);
    EXPECT_EQ(nodes[mm].children.size(), 2u) << "called by linear and by backward";
}

TEST(FlameTree, BoxesLieWithinTheirCallersAndKeepTheirOrder) {
    FlameTree tree;
    tree.add("trainer", someLane(), kTexts);
    const auto boxes = flameBoxes(tree, 0, FlameOrder::Time, 0);
    ASSERT_EQ(boxes.size(), tree.nodes().size());
    std::map<std::uint32_t, FlameBox> of;
    for (const auto& box : boxes) of[box.node] = box;
    for (const auto& box : boxes) {
        if (box.node == 0) continue;
        const FlameBox& outer = of.at(tree.nodes()[box.node].parent);
        EXPECT_GE(box.left, outer.left - 1e-12);
        EXPECT_LE(box.right, outer.right + 1e-12);
        EXPECT_EQ(box.row, outer.row + 1);
        EXPECT_NEAR(box.right - box.left, static_cast<double>(tree.nodes()[box.node].total) / 100, 1e-12);
    }
    // Of the step's two phases the first is left in time; both take 45.
    const auto heavy = flameBoxes(tree, 0, FlameOrder::Heaviest, 0.2);
    EXPECT_LT(heavy.size(), boxes.size()) << "what is narrow is left out";
    // Zoomed: callers keep the full width.
    const auto zoomed = flameBoxes(tree, 3, FlameOrder::Time, 0);
    EXPECT_EQ(std::ranges::count_if(zoomed, [](const FlameBox& box) { return box.left == 0 && box.right == 1; }), 4);
    EXPECT_TRUE(flameBoxes(tree, 99, FlameOrder::Time, 0).empty());
}

TEST(StepDivision, OnACpuEachInstantOfAStepIsInOneClass) {
    StepDivision division(0);
    division.addThread("trainer", someLane(), kTexts);
    const DividedSteps steps = division.result();
    EXPECT_FALSE(steps.device);
    EXPECT_EQ(steps.steps, 1);
    EXPECT_EQ(steps.window.ns, 100);
    ASSERT_EQ(steps.classes.size(), static_cast<std::size_t>(kWorkClasses) - 1) << "a CPU has no gaps between launches";
    EXPECT_EQ(steps.classes[static_cast<std::size_t>(WorkClass::MatrixProducts)].time.ns, 46);
    EXPECT_EQ(steps.classes[static_cast<std::size_t>(WorkClass::Pointwise)].time.ns, 15);
    EXPECT_EQ(steps.classes[static_cast<std::size_t>(WorkClass::Host)].time.ns, 39);
    EXPECT_EQ(steps.thread, "trainer");
    ASSERT_EQ(steps.threads.size(), 1u);
    EXPECT_EQ(steps.threads[0].busy.ns, 61);
}

TEST(StepDivision, WithAGpuTheFirstClassOfWhatGoesOnAtOnceCountsAtEveryNanosecond) {
    std::mt19937 random(11);
    const std::vector<std::string> texts{"step", "aten::mm", "cudaLaunchKernel", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"};
    for (int round = 0; round < 100; ++round) {
        // By nanosecond: the first of the classes that is there; 7: none.
        std::vector<int> truth(1000, 7), moving(1000, 0), computing(1000, 0);
        const auto mark = [&](int kind, std::int64_t from, std::int64_t to) {
            for (auto at = static_cast<std::size_t>(from); at < static_cast<std::size_t>(to); ++at) truth[at] = std::min(truth[at], kind);
        };
        StepDivision division(0);
        const auto span = [&] {
            const auto from = static_cast<std::int64_t>(100 + random() % 700);
            return std::pair(from, from + 1 + static_cast<std::int64_t>(random() % 90));
        };
        for (int i = 0; i < 8; ++i) {
            const auto [from, to] = span();
            const int kind = static_cast<int>(random() % 4);
            constexpr SliceKind kinds[] = {SliceKind::Kernel, SliceKind::Memcpy, SliceKind::Memset, SliceKind::Kernel};
            division.addWork(kinds[kind], kind == 3, from, to);
            mark(kind, from, to);
            for (auto at = static_cast<std::size_t>(from); at < static_cast<std::size_t>(to); ++at) {
                if (kind == 3) moving[at] = 1;
                if (kind == 0) computing[at] = 1;
            }
        }
        std::vector<NestedSlice> lane{nested(50, 950, 0, 0, SliceKind::Step, WorkClass::Host)};
        for (std::int64_t at = 60; at < 900;) {
            const int kind = static_cast<int>(random() % 3);
            const std::int64_t to = at + 1 + static_cast<std::int64_t>(random() % 60);
            constexpr SliceKind kinds[] = {SliceKind::Operation, SliceKind::Runtime, SliceKind::Annotation};
            lane.push_back(nested(at, to, static_cast<std::uint32_t>(1 + kind), 1, kinds[kind], WorkClass::Host));
            constexpr int classes[] = {6, 4, 5};
            mark(classes[kind], at, to);
            at = to + static_cast<std::int64_t>(random() % 30);
        }
        nestLane(lane);
        division.addThread("main", lane, texts);
        const DividedSteps steps = division.result();
        ASSERT_TRUE(steps.device);
        EXPECT_TRUE(steps.thread.empty());
        ASSERT_EQ(steps.classes.size(), 8u);
        EXPECT_EQ(steps.from.ns, 50);
        EXPECT_GE(steps.to.ns, 950);
        std::int64_t all = 0;
        for (int i = 0; i < 8; ++i) {
            const auto count = std::count(truth.begin() + 50, truth.begin() + steps.to.ns, i);
            EXPECT_EQ(steps.classes[static_cast<std::size_t>(i)].time.ns, count) << round << ", " << steps.classes[static_cast<std::size_t>(i)].name;
            all += steps.classes[static_cast<std::size_t>(i)].time.ns;
        }
        EXPECT_EQ(all, steps.window.ns);
        std::int64_t both = 0;
        for (std::size_t at = 0; at < 1000; ++at) both += moving[at] * computing[at];
        EXPECT_EQ(steps.communication.ns, std::accumulate(moving.begin(), moving.end(), std::int64_t{0}));
        EXPECT_EQ(steps.overlapped.ns, both) << round;
    }
}

TEST(StepDivision, KnowsWhatMovesDataBetweenWorkers) {
    EXPECT_TRUE(isCommunication("ncclKernel_AllReduce_RING_LL_Sum_float"));
    EXPECT_TRUE(isCommunication("ncclDevKernel_AllGather"));
    EXPECT_FALSE(isCommunication("volta_sgemm_128x64_nn"));
    EXPECT_TRUE(movesOnHost(SliceKind::Annotation, "gloo:all_reduce", ""));
    EXPECT_TRUE(movesOnHost(SliceKind::Own, "all-reduce", "communication"));
    for (const auto& [name, role] : {std::pair("nccl:all_reduce", ""), std::pair(kSumLaunch, "communication")})
        EXPECT_FALSE(movesOnHost(SliceKind::Annotation, name, role)) << name << ": on the host it is launched, and no more";
    EXPECT_FALSE(movesOnHost(SliceKind::Runtime, "gloo:all_reduce", "")) << "a call of that name";
    EXPECT_FALSE(movesOnHost(SliceKind::Operation, "aten::mm", "mlp/up"));
}

// Gloo's ranges begin on the thread that asked for them and end when they have ended, whatever lies around there.
TEST(StepDivision, OnACpuDataThatMovesIsHiddenWhereAnyThreadComputesAtEveryNanosecond) {
    std::mt19937 random(12);
    const std::vector<std::string> texts{"step", "aten::mm", "aten::view", "batch", "gloo:all_reduce"};
    constexpr WorkClass kinds[] = {WorkClass::Host, WorkClass::MatrixProducts, WorkClass::Host, WorkClass::Data, WorkClass::Host};
    std::int64_t hidden = 0, alone = 0;
    for (int round = 0; round < 100; ++round) {
        std::vector<int> moving(1000, 0), computing(1000, 0), within(1000, 0);
        StepDivision division(0);
        for (int thread = 0; thread < 3; ++thread) {
            std::vector<NestedSlice> lane;
            std::vector<std::uint32_t> innermost(1000, 2);
            // Two steps with a gap between them, of one thread alone; the others' operations reach over its edges.
            if (thread == 0)
                for (const auto& [from, to] : {NsSpan(100, 450), NsSpan(500, 900)}) {
                    lane.push_back(nested(from, to, 0, 0, SliceKind::Step, WorkClass::Host));
                    std::fill(within.begin() + from, within.begin() + to, 1);
                }
            for (std::int64_t at = thread == 0 ? 110 : 20; at < 980;) {
                const std::int64_t to = std::min<std::int64_t>(1000, at + 5 + static_cast<std::int64_t>(random() % 60));
                if (thread > 0 || to <= 450 || (at >= 500 && to <= 900)) {
                    const auto text = static_cast<std::uint32_t>(1 + random() % 4);
                    lane.push_back(nested(at, to, text, 1, text == 4 ? SliceKind::Annotation : SliceKind::Operation, kinds[text]));
                    lane.back().moves = text == 4;
                    std::fill(innermost.begin() + at, innermost.begin() + to, text);
                    if (text == 4) std::fill(moving.begin() + at, moving.begin() + to, 1);
                    // What is computed while it is on its way lies in it.
                    if (text == 4 && to - at > 20) {
                        lane.push_back(nested(at + 5, at + 15, 1, 2, SliceKind::Operation, WorkClass::MatrixProducts));
                        std::fill(innermost.begin() + at + 5, innermost.begin() + at + 15, 1U);
                    }
                }
                at = to + static_cast<std::int64_t>(random() % 40);
            }
            for (std::size_t at = 0; at < 1000; ++at) computing[at] |= innermost[at] == 1 ? 1 : 0;
            nestLane(lane);
            division.addThread("thread " + std::to_string(thread), lane, texts);
        }
        const DividedSteps steps = division.result();
        ASSERT_FALSE(steps.device);
        ASSERT_EQ(steps.steps, 2);
        std::int64_t all = 0, both = 0;
        for (std::size_t at = 0; at < 1000; ++at) {
            all += moving[at] * within[at];
            both += moving[at] * computing[at] * within[at];
        }
        EXPECT_EQ(steps.communication.ns, all) << round;
        EXPECT_EQ(steps.overlapped.ns, both) << round;
        hidden += both;
        alone += all - both;
    }
    EXPECT_GT(hidden, 0);
    EXPECT_GT(alone, 0);
}

TEST(StepDivision, WhatComputesIsToldOnlyWhereSomethingMovesOnTheHostWhicheverThreadComesFirst) {
    const std::vector<std::string> texts{"step", "aten::mm", "gloo:all_reduce"};
    std::vector<NestedSlice> trainer{nested(0, 100, 0, 0, SliceKind::Step, WorkClass::Host),
                                     nested(10, 60, 1, 1, SliceKind::Operation, WorkClass::MatrixProducts)};
    std::vector<NestedSlice> sums{nested(40, 80, 2, 0, SliceKind::Annotation, WorkClass::Host)};
    sums.back().moves = true;
    nestLane(trainer);
    nestLane(sums);
    for (const bool sumsFirst : {false, true}) {
        StepDivision division(0);
        if (sumsFirst) division.addThread("sums", sums, texts);
        division.addThread("trainer", trainer, texts);
        EXPECT_EQ(division.computingSpans(), sumsFirst ? 1u : 0u) << "nothing has moved yet";
        if (!sumsFirst) division.addThread("sums", sums, texts);
        EXPECT_EQ(division.computingSpans(), 1u);
        const DividedSteps steps = division.result();
        EXPECT_EQ(steps.communication.ns, 40);
        EXPECT_EQ(steps.overlapped.ns, 20);
    }
    StepDivision ofGpu(0);
    ofGpu.addThread("trainer", trainer, texts);
    ofGpu.addWork(SliceKind::Kernel, false, 20, 30);
    ofGpu.addThread("sums", sums, texts);
    EXPECT_EQ(ofGpu.computingSpans(), 0u) << "kernels tell it";
    EXPECT_EQ(ofGpu.result().overlapped.ns, 0);
}

TEST(LayerMap, HasARowALayerAndAColumnAPart) {
    SliceBlock block;
    block.strings = {"", "aten::mm", "forward", "backward", "mlp/up", "attention/core", "head/loss", "gemm"};
    block.slices = {{.start = 0, .duration = 10, .called = 4, .name = 1, .phase = 2, .role = 4, .layer = 1},
                    {.start = 20, .duration = 5, .name = 1, .phase = 3, .role = 4, .layer = 1},
                    {.start = 30, .duration = 7, .name = 1, .phase = 2, .role = 5, .layer = 0},
                    {.start = 40, .duration = 3, .name = 1, .phase = 2, .role = 6},
                    {.start = 50, .duration = 2, .name = 1, .phase = 2},
                    {.start = 60, .duration = 90, .name = 7, .phase = 2, .role = 4, .layer = 1, .kind = SliceKind::Kernel}};
    LayerMap map;
    map.add(block);
    EXPECT_TRUE(map.hasKernels());
    EXPECT_EQ(map.phases(), (std::vector<std::string>{"forward", "backward"}));
    const LayerGrid grid = map.grid(false);
    EXPECT_EQ(grid.layers, (std::vector<std::int32_t>{0, 1, -1}));
    EXPECT_EQ(grid.roles, (std::vector<std::string>{"attention/core", "mlp/up", "head/loss"})) << "in the order of a forward pass";
    EXPECT_EQ(grid.cells[1][1].time, 6 + 5);
    EXPECT_EQ(grid.cells[1][1].calls, 2);
    EXPECT_EQ(grid.cells[2][2].time, 3);
    EXPECT_EQ(grid.cells[0][2].calls, 0);
    EXPECT_EQ(grid.placed.time, 6 + 5 + 7 + 3);
    EXPECT_EQ(grid.elsewhere.time, 2);
    EXPECT_EQ(map.grid(false, "backward").placed.time, 5);
    EXPECT_EQ(map.grid(true).placed.time, 90);
}

TEST(MemoryCurve, KnowsThePeakOfARangeAndWhatWasAliveThen) {
    AllocationBlock block;
    block.strings = {"", "weights", "activations", "aten::mm"};
    block.allocations = {{.at = 10, .address = 1, .bytes = 100, .kind = 1},
                         {.at = 20, .address = 2, .bytes = 50, .kind = 2, .owner = 3},
                         {.at = 25, .address = 3, .bytes = 30, .kind = 2, .owner = 3},
                         {.at = 30, .address = 2, .bytes = -50},
                         {.at = 40, .address = 2, .bytes = 10, .owner = 3},
                         {.at = 50, .address = 9, .bytes = 7, .device = 0, .totalAllocated = 1007, .totalReserved = 4096}};
    MemoryCurve curve;
    EXPECT_TRUE(curve.add(block));
    const auto all = curve.result(0, 100);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].device, -1);
    EXPECT_EQ(all[0].peak, 180);
    EXPECT_EQ(all[0].peakAt, 25);
    EXPECT_FALSE(all[0].absolute);
    ASSERT_EQ(all[0].alive.size(), 2u);
    EXPECT_EQ(all[0].alive[0].kind, "weights");
    EXPECT_EQ(all[0].alive[1].bytes, 80);
    EXPECT_EQ(all[0].alive[1].count, 2);
    EXPECT_EQ(all[0].taken, 190);
    EXPECT_EQ(all[0].freed, 50);
    EXPECT_TRUE(all[1].absolute);
    EXPECT_EQ(all[1].peak, 1007);
    EXPECT_EQ(all[1].reserved, 4096);
    // What was taken before the range is alive in it, and here never more than as it begins.
    const auto late = curve.result(28, 45);
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].peak, 180);
    EXPECT_EQ(late[0].peakAt, 28);
    EXPECT_EQ(late[0].aliveBytes, 180);
    EXPECT_EQ(late[0].curve.size(), 3u);
    EXPECT_TRUE(curve.result(60, 70).empty());
}

TEST(MemoryCurve, ManyAllocationsBecomeFewPointsThatKeepThePeak) {
    AllocationBlock block;
    for (int i = 0; i < 50'000; ++i)
        block.allocations.push_back({.at = i, .address = static_cast<std::uint64_t>(i), .bytes = i == 33'333 ? 1'000'000 : 1});
    block.allocations.push_back({.at = 33'333, .address = 33'333, .bytes = -1'000'000});
    MemoryCurve curve;
    EXPECT_TRUE(curve.add(block));
    const auto all = curve.result(0, 50'000);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_LE(all[0].curve.size(), MemoryCurve::kPoints + 2);
    EXPECT_EQ(all[0].peakAt, 33'333);
    std::int64_t highest = 0;
    for (const auto& [at, bytes] : all[0].curve) highest = std::max(highest, bytes);
    EXPECT_EQ(highest, all[0].peak);
}

}  // namespace
}  // namespace stepscope
