// What the panes say of a range, against the same sums made by hand and by what `profile` uses: whatever the range cuts, however slices were cut into
// blocks, and where they are too many to be read one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/analysis/panes/RangePanes.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

constexpr std::int64_t kUs = 1000;
const auto kAlwaysOn = [] { return true; };

// Ten steps of a millisecond: on the CPU an operation that launches a kernel each hundred microseconds; the kernel begins 150 us later and takes
// 60 us.
struct SmallGpuRun {
    SliceBlock host, device;
    SmallGpuRun() {
        host.thread = {.process = 1, .thread = 10, .name = "trainer"};
        host.strings = {"", "aten::mm", "aten::gelu", "cudaLaunchKernel", "forward", "mlp/up"};
        device.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1000, .device = 0};
        device.strings = {"", "gemm", "gelu_kernel", "forward", "mlp/up"};
        device.arguments.push_back({.grid = {160, 1, 1}, .block = {256, 1, 1}, .registers = 32, .sharedBytes = 1024});
        for (std::int64_t step = 0; step < 10; ++step) {
            const std::int64_t at = step * 1000 * kUs;
            host.slices.push_back({.start = at, .duration = 1000 * kUs, .called = 400 * kUs, .kind = SliceKind::Step, .step = step + 1});
            for (std::int64_t i = 0; i < 10; ++i) {
                const std::int64_t start = at + i * 100 * kUs, number = step * 10 + i + 1;
                const std::uint32_t name = i % 2 == 0 ? 1 : 2;
                host.slices.push_back({.start = start,
                                       .duration = 40 * kUs,
                                       .called = 10 * kUs,
                                       .name = name,
                                       .phase = 4,
                                       .role = 5,
                                       .depth = 1,
                                       .layer = static_cast<std::int32_t>(i % 2),
                                       .step = step + 1,
                                       .external = number});
                host.slices.push_back({.start = start + 10 * kUs,
                                       .duration = 10 * kUs,
                                       .name = 3,
                                       .depth = 2,
                                       .kind = SliceKind::Runtime,
                                       .correlation = number,
                                       .external = number});
                device.slices.push_back({.start = start + 160 * kUs,
                                         .duration = 60 * kUs + i,
                                         .name = name,
                                         .phase = 3,
                                         .role = 4,
                                         .arguments = 1,
                                         .layer = static_cast<std::int32_t>(i % 2),
                                         .kind = SliceKind::Kernel,
                                         .correlation = number,
                                         .external = number});
            }
        }
    }
    // In blocks of so many slices.
    void tell(MemoryTrace& trace, std::size_t block) const {
        for (const SliceBlock* all : {&host, &device})
            for (std::size_t from = 0; from < all->slices.size(); from += block) {
                SliceBlock some = *all;
                const auto begin = all->slices.begin() + static_cast<std::ptrdiff_t>(from);
                some.slices.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min(block, all->slices.size() - from)));
                trace.add(encodeSlices(std::move(some)));
            }
        trace.finish();
    }
};

RangePanes panesOf(MemoryTrace& trace, std::int64_t from, std::int64_t to, std::int64_t most = PanesReader::kMostSlices) {
    const GpuShape v100{
        .multiprocessors = 80, .threadsPerMultiprocessor = 2048, .registersPerMultiprocessor = 65536, .sharedPerMultiprocessorBytes = 98304};
    PanesReader reader(trace, {.first = {{0, v100}}, .ofRank = {}}, kAlwaysOn, most);
    EXPECT_TRUE(reader.open());
    auto panes = reader.read(from, to);
    EXPECT_TRUE(panes) << panes.error().sentence;
    return panes ? std::move(*panes) : RangePanes{};
}

TEST(RangePanes, SaysOfAllWhatProfileSays) {
    const SmallGpuRun run;
    for (const std::size_t block : {7u, 64u, 5000u}) {
        MemoryTrace trace;
        run.tell(trace, block);
        const RangePanes panes = panesOf(trace, 0, 0);
        EXPECT_FALSE(panes.folded);
        EXPECT_TRUE(panes.devices);
        OperationSummary operations;
        KernelSummary kernels;
        for (const SliceBlock* one : {&run.host, &run.device}) {
            operations.add(*one);
            kernels.add(*one);
        }
        EXPECT_EQ(panes.totals.operations, operations.totals().operations);
        EXPECT_EQ(panes.totals.deviceTime.ns, operations.totals().deviceTime.ns);
        EXPECT_EQ(panes.totals.steps, 10);
        const auto rows = operations.rows(SummaryBy::Operation, SummarySort::Self);
        ASSERT_EQ(panes.operations.size(), rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(panes.operations[i].row.name, rows[i].name);
            EXPECT_EQ(panes.operations[i].row.self.ns, rows[i].self.ns);
            EXPECT_EQ(panes.operations[i].row.layer, rows[i].layer);
        }
        const auto launched = kernels.rows(SummarySort::Total);
        ASSERT_EQ(panes.kernels.size(), launched.size());
        for (std::size_t i = 0; i < launched.size(); ++i) {
            const PaneKernel& kernel = panes.kernels[i];
            EXPECT_EQ(kernel.row.name, launched[i].name);
            EXPECT_EQ(kernel.row.calls, 50);
            EXPECT_EQ(kernel.row.total.ns, launched[i].total.ns);
            EXPECT_EQ(kernel.row.operation, kernel.row.name == "gemm" ? "aten::mm" : "aten::gelu");
            EXPECT_EQ(kernel.row.registers, 32);
            EXPECT_EQ(kernel.row.sharedBytes, 1024);
            EXPECT_EQ(kernel.phase, "forward");
            EXPECT_DOUBLE_EQ(kernel.blocksPerMultiprocessor, 2) << "160 blocks on 80 multiprocessors";
            EXPECT_DOUBLE_EQ(kernel.occupancy, 0.25) << "two blocks of 256 of 2048 threads";
            EXPECT_EQ(kernel.launched, 50);
            EXPECT_EQ(kernel.launchDelay.ns, 150 * kUs);
            EXPECT_EQ(kernel.longest.lane, 1000);
            EXPECT_EQ(kernel.longest.duration, kernel.row.longest.ns);
        }
    }
}

TEST(RangePanes, WhatBeginsInTheRangeCountsAndLaunchesBeforeItAreFound) {
    const SmallGpuRun run;
    MemoryTrace trace;
    run.tell(trace, 32);
    // From the middle of the third step on, one millisecond.
    const std::int64_t from = 2500 * kUs, to = 3500 * kUs;
    const RangePanes panes = panesOf(trace, from, to);
    std::int64_t operations = 0, kernels = 0;
    for (const Slice& slice : run.host.slices) operations += isOperation(slice.kind) && slice.start >= from && slice.start < to ? 1 : 0;
    for (const Slice& slice : run.device.slices) kernels += slice.start >= from && slice.start < to ? 1 : 0;
    EXPECT_EQ(panes.totals.operations, operations);
    EXPECT_EQ(panes.totals.kernels, kernels);
    ASSERT_EQ(panes.streams.size(), 1u);
    EXPECT_EQ(panes.streams[0].time.works, kernels);
    EXPECT_EQ(panes.streams[0].launches.launched, kernels) << "the first two were launched before the range";
    EXPECT_EQ(panes.streams[0].launches.median.ns, 150 * kUs);
    EXPECT_EQ(panes.streams[0].launches.longestQueue, 2);
    EXPECT_EQ(panes.flame.nodes()[0].total > 0, true);
    ASSERT_EQ(panes.steps.size(), 1u);
    EXPECT_TRUE(panes.steps[0].device);
}

TEST(RangePanes, KnowHowManyStepsTheirEdgesCut) {
    SmallGpuRun run;
    for (const bool device : {true, false}) {
        if (!device) run.device.slices.clear();
        MemoryTrace trace;
        run.tell(trace, 32);
        const auto cutOf = [&](std::int64_t from, std::int64_t to) {
            const RangePanes panes = panesOf(trace, from, to);
            EXPECT_EQ(panes.steps.size(), 1u);
            EXPECT_EQ(panes.cutsSteps(), panes.steps.at(0).cut > 0);
            return std::pair(panes.steps.at(0).cut, panes.steps.at(0).steps);
        };
        using Counts = std::pair<std::int64_t, std::int64_t>;
        EXPECT_EQ(cutOf(0, 0), Counts(0, 10));
        EXPECT_EQ(cutOf(2000 * kUs, 4000 * kUs), Counts(0, 2)) << "from the begin of one to the end of another";
        EXPECT_EQ(cutOf(2500 * kUs, 3500 * kUs), Counts(2, 2));
        EXPECT_EQ(cutOf(2500 * kUs, 6000 * kUs), Counts(1, 4));
        EXPECT_EQ(cutOf(2000 * kUs, 5999 * kUs), Counts(1, 4));
        EXPECT_EQ(cutOf(2200 * kUs, 2800 * kUs), Counts(1, 1)) << "at both of its ends, once";
    }
}

// The first worker as we record it: sums on a thread of their own, an exchange on the thread of the steps. The second as PyTorch names it.
TEST(RangePanes, OfWorkersOnACpuSayHowMuchOfWhatIsOnItsWayIsHidden) {
    SliceBlock trainer, sums, other;
    trainer.thread = {.process = 1, .thread = 10, .name = "trainer"};
    trainer.strings = {"", "aten::mm", "all-gather", "backward", "mlp/up", "communication"};
    trainer.slices = {{.start = 0, .duration = 1000 * kUs, .called = 700 * kUs, .kind = SliceKind::Step, .step = 1},
                      {.start = 100 * kUs, .duration = 600 * kUs, .name = 1, .phase = 3, .role = 4, .depth = 1},
                      {.start = 850 * kUs, .duration = 100 * kUs, .name = 2, .role = 5, .depth = 1, .kind = SliceKind::Own}};
    sums.thread = {.process = 1, .thread = 11, .name = "sums"};
    sums.strings = {"", "all-reduce", "communication"};
    sums.slices = {{.start = 500 * kUs, .duration = 300 * kUs, .name = 1, .role = 2, .kind = SliceKind::Own}};
    other.thread = {.process = 2, .thread = 10, .name = "main", .lane = 500, .rank = 1};
    other.strings = {"", "aten::mm", "gloo:all_reduce", "nccl:all_reduce"};
    other.slices = {{.start = 0, .duration = 1000 * kUs, .called = 500 * kUs, .kind = SliceKind::Step, .step = 1},
                    {.start = 200 * kUs, .duration = 400 * kUs, .called = 100 * kUs, .name = 2, .depth = 1, .kind = SliceKind::Annotation},
                    {.start = 300 * kUs, .duration = 100 * kUs, .name = 1, .depth = 2},
                    {.start = 700 * kUs, .duration = 100 * kUs, .name = 3, .depth = 1, .kind = SliceKind::Annotation}};
    MemoryTrace trace;
    for (const SliceBlock* block : {&trainer, &sums, &other}) trace.add(encodeSlices(*block));
    trace.finish();
    const auto of = [&](std::int64_t from, std::int64_t to) {
        std::vector<std::pair<std::int64_t, std::int64_t>> all;
        for (const DividedSteps& steps : panesOf(trace, from, to).steps) all.emplace_back(steps.communication.ns / kUs, steps.overlapped.ns / kUs);
        return all;
    };
    using Both = std::vector<std::pair<std::int64_t, std::int64_t>>;
    EXPECT_EQ(of(0, 0), (Both{{300 + 100, 200}, {400, 100}}));
    EXPECT_EQ(of(0, 650 * kUs), (Both{{150, 150}, {400, 100}})) << "of the range alone";
}

TEST(RangePanes, TurnTheFlameGraphForWhoDrawsItAndForNobodyElse) {
    const SmallGpuRun run;
    MemoryTrace trace;
    run.tell(trace, 64);
    RangePanes panes = panesOf(trace, 0, 0);
    EXPECT_TRUE(panes.turned.empty()) << "reports have no use for it, and it takes as long as the graph is large";
    panes.turnFlame();
    const FlameTree turned = panes.flame.bottomUp();
    ASSERT_EQ(panes.turned.nodes().size(), turned.nodes().size());
    ASSERT_GT(turned.nodes().size(), 1u);
    for (std::uint32_t node = 1; node < turned.nodes().size(); ++node) {
        EXPECT_EQ(panes.turned.name(node), turned.name(node));
        EXPECT_EQ(panes.turned.nodes()[node].total, turned.nodes()[node].total);
    }
    EXPECT_EQ(panes.turned.texts(), panes.flame.texts()) << "a name has one number in both";
}

TEST(RangePanes, IdleIsWhatLiesBetweenTheWorksOfAStream) {
    const SmallGpuRun run;
    MemoryTrace trace;
    run.tell(trace, 100);
    const RangePanes panes = panesOf(trace, 0, 0);
    ASSERT_EQ(panes.streams.size(), 1u);
    const StreamTime& time = panes.streams[0].time;
    std::int64_t busy = 0;
    for (const Slice& slice : run.device.slices) busy += slice.duration;
    EXPECT_EQ(time.busy.ns, busy);
    EXPECT_EQ(time.busy.ns + time.idle().ns, (time.end - time.begin).ns);
    EXPECT_EQ(time.hostWait.ns, 0) << "each was launched 150 us before it began, when the one before still ran";
    ASSERT_EQ(panes.gpus.size(), 1u);
    EXPECT_EQ(panes.gpus[0].time.busy.ns, busy);
}

TEST(RangePanes, WhereThereAreTooManySlicesSumsAreTheSameAndTheRestIsLeftOut) {
    const SmallGpuRun run;
    MemoryTrace trace;
    run.tell(trace, 64);
    for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{0, 0}, {1234 * kUs, 7777 * kUs}}) {
        const RangePanes whole = panesOf(trace, from, to), folded = panesOf(trace, from, to, 20);
        ASSERT_TRUE(folded.folded);
        EXPECT_EQ(folded.slices, whole.slices);
        EXPECT_EQ(folded.totals.operations, whole.totals.operations);
        EXPECT_EQ(folded.totals.deviceTime.ns, whole.totals.deviceTime.ns);
        ASSERT_EQ(folded.kernels.size(), whole.kernels.size());
        for (std::size_t i = 0; i < whole.kernels.size(); ++i) {
            EXPECT_EQ(folded.kernels[i].row.name, whole.kernels[i].row.name);
            EXPECT_EQ(folded.kernels[i].row.calls, whole.kernels[i].row.calls);
            EXPECT_EQ(folded.kernels[i].row.total.ns, whole.kernels[i].row.total.ns);
            EXPECT_LT(folded.kernels[i].longest.duration, 0);
        }
        ASSERT_EQ(folded.operations.size(), whole.operations.size());
        EXPECT_EQ(folded.operations[0].row.self.ns, whole.operations[0].row.self.ns);
        EXPECT_TRUE(folded.flame.empty());
        ASSERT_EQ(folded.streams.size(), 1u);
        EXPECT_EQ(folded.streams[0].time.works, whole.streams[0].time.works);
        EXPECT_NEAR(static_cast<double>(folded.streams[0].time.busy.ns), static_cast<double>(whole.streams[0].time.busy.ns), 61e3);
    }
}

TEST(RangePanes, RangesThatWereNamedAndWaitsKeepNoStreamBusyAlsoWhereOnlySumsAreRead) {
    SmallGpuRun run;
    for (Slice& slice : run.device.slices) slice.depth = 1;
    const std::int64_t kernels = std::ssize(run.device.slices), end = run.device.slices.back().start + run.device.slices.back().duration;
    run.device.slices.insert(run.device.slices.begin(),
                             {.start = 0, .duration = end, .called = kernels * 60 * kUs, .name = 1, .kind = SliceKind::DeviceAnnotation});
    SliceBlock waits;
    waits.thread = {.process = 0, .thread = 7, .name = "stream 7 (sync)", .lane = 2000, .device = 0};
    waits.strings = {"", "Stream Wait"};
    waits.slices = {{.start = 0, .duration = 9000 * kUs, .name = 1, .kind = SliceKind::Synchronisation}};
    SliceBlock overlapping;
    overlapping.thread = {.process = 0, .thread = 7, .name = "stream 7 (2)", .lane = 1001, .device = 0};
    overlapping.strings = {"", "gemm"};
    overlapping.slices = {{.start = 200 * kUs, .duration = 50 * kUs, .name = 1, .kind = SliceKind::Kernel}};
    MemoryTrace trace;
    trace.add(encodeSlices(waits));
    trace.add(encodeSlices(overlapping));
    run.tell(trace, 64);
    const RangePanes folded = panesOf(trace, 0, 0, 20);
    ASSERT_TRUE(folded.folded);
    ASSERT_EQ(folded.streams.size(), 1u);
    EXPECT_EQ(folded.streams[0].time.works, kernels + 1);
    EXPECT_LT(folded.streams[0].time.busy.ns, (kernels + 1) * 61 * kUs);
    EXPECT_GT(folded.streams[0].time.busy.ns, kernels * 60 * kUs);
}

TEST(RangePanes, ACallWithinOneOfItsOwnNameCountsOnceAlsoWhereOnlySumsAreRead) {
    SliceBlock block;
    block.thread = {.process = 1, .thread = 1, .name = "trainer"};
    block.strings = {"", "aten::x"};
    block.slices = {{.start = 0, .duration = 100, .called = 60, .name = 1}, {.start = 20, .duration = 60, .name = 1, .depth = 1}};
    MemoryTrace trace;
    trace.add(encodeSlices(block));
    trace.finish();
    for (const std::int64_t most : {PanesReader::kMostSlices, std::int64_t{1}}) {
        const RangePanes panes = panesOf(trace, 0, 0, most);
        EXPECT_EQ(panes.folded, most == 1);
        EXPECT_FALSE(panes.nestedEach) << "two slices are few enough to be looked at";
        ASSERT_EQ(panes.operations.size(), 1u);
        EXPECT_EQ(panes.operations[0].row.total.ns, 100);
        EXPECT_EQ(panes.operations[0].row.mean().ns, 80);
    }
}

TEST(RangePanes, ACaptureWithoutAGpuHasNoStreamsAndAnEmptyRangeHasNothing) {
    SmallGpuRun run;
    run.device.slices.clear();
    std::erase_if(run.host.slices, [](const Slice& slice) { return slice.kind == SliceKind::Runtime; });
    MemoryTrace trace;
    trace.add(encodeSlices(run.host));
    trace.finish();
    const RangePanes panes = panesOf(trace, 0, 0);
    EXPECT_FALSE(panes.devices);
    EXPECT_TRUE(panes.kernels.empty());
    EXPECT_TRUE(panes.streams.empty());
    ASSERT_EQ(panes.steps.size(), 1u);
    EXPECT_EQ(panes.steps[0].steps, 10);
    EXPECT_EQ(panes.steps[0].window.ns, 10'000 * kUs);
    std::int64_t all = 0;
    for (const auto& one : panes.steps[0].classes) all += one.time.ns;
    EXPECT_EQ(all, panes.steps[0].window.ns);
    EXPECT_EQ(panes.layers.grid(false).layers, (std::vector<std::int32_t>{0, 1}));
    const RangePanes nothing = panesOf(trace, 50 * kUs, 60 * kUs);
    EXPECT_TRUE(nothing.operations.empty());
    EXPECT_FALSE(nothing.flame.empty()) << "the step reaches over the range";
}

TEST(RangePanes, StacksOfPythonReachTheFlameGraph) {
    SliceBlock block;
    block.thread = {.process = 1, .thread = 1};
    block.strings = {"", "train.py(12): main", "train.py(40): step", "aten::mm"};
    block.slices = {{.start = 0, .duration = 100, .called = 60, .name = 1, .kind = SliceKind::Python},
                    {.start = 20, .duration = 60, .called = 30, .name = 2, .depth = 1, .kind = SliceKind::Python},
                    {.start = 30, .duration = 30, .name = 3, .depth = 2}};
    MemoryTrace trace;
    trace.add(encodeSlices(block));
    trace.finish();
    const RangePanes panes = panesOf(trace, 0, 0);
    const auto& nodes = panes.flame.nodes();
    ASSERT_EQ(nodes.size(), 5u);
    std::string path;
    for (std::uint32_t at = 4; at != 0; at = nodes[at].parent) path += "/" + panes.flame.name(at);
    EXPECT_EQ(path, "/aten::mm/train.py(40): step/train.py(12): main/thread 1");
    EXPECT_EQ(nodes[2].self, 40);
}

TEST(RangePanes, AKernelThatNamesItsOperationItselfNeedsNoLaunch) {
    SliceBlock block;
    block.thread = {.thread = 7, .device = 0};
    block.strings = {"", "kernel", "mlp/up"};
    block.arguments.push_back({.extra = R"({"operation":"fused MLP"})"});
    block.slices = {{.start = 0, .duration = 10, .name = 1, .role = 2, .arguments = 1, .layer = 3, .kind = SliceKind::Kernel}};
    MemoryTrace trace;
    trace.add(encodeSlices(block));
    trace.finish();
    const RangePanes panes = panesOf(trace, 0, 0);
    ASSERT_EQ(panes.kernels.size(), 1u);
    EXPECT_EQ(panes.kernels[0].row.operation, "fused MLP");
    EXPECT_EQ(panes.kernels[0].row.role, "mlp/up");
    EXPECT_EQ(panes.kernels[0].row.layer, 3);
    EXPECT_TRUE(panes.layers.hasKernels());
    EXPECT_EQ(panes.layers.grid(true).layers, std::vector<std::int32_t>{3});
}

TEST(RangePanes, CountsTheAllocationsThatMemoryIsWithoutUpToTheEndOfTheRange) {
    SliceBlock block;
    block.strings = {"", "aten::mm"};
    block.slices = {{.start = 0, .duration = 1000, .name = 1}};
    AllocationBlock first{.lane = 1, .lost = 3, .invalid = 2, .allocations = {{.at = 10, .address = 64, .bytes = 512}}};
    AllocationBlock later{.lane = 1, .lost = 40, .allocations = {{.at = 900, .address = 128, .bytes = 512}}};
    MemoryTrace trace;
    trace.add(encodeSlices(block));
    trace.add(encodeAllocations(first, TimeNs{20}));
    trace.add(encodeAllocations(later, TimeNs{950}));
    trace.finish();
    const RangePanes all = panesOf(trace, 0, 1000);
    EXPECT_TRUE(all.allocations);
    EXPECT_EQ(all.memoryMissing, 45);
    EXPECT_EQ(panesOf(trace, 0, 500).memoryMissing, 5) << "what is lost later does not change what is known here";

    MemoryTrace lostAll;
    lostAll.add(encodeSlices(block));
    lostAll.add(encodeAllocations({.lane = 1, .lost = 7}, TimeNs{20}));
    lostAll.finish();
    const RangePanes none = panesOf(lostAll, 0, 1000);
    EXPECT_FALSE(none.allocations);
    EXPECT_TRUE(none.memory.empty());
    EXPECT_EQ(none.memoryMissing, 7) << "also where not one was kept";
}

TEST(RangePanes, TellsWhichMemoryLostAllocationsWhereThatIsKnown) {
    SliceBlock block;
    block.strings = {"", "aten::mm"};
    block.slices = {{.start = 0, .duration = 1000, .name = 1}};
    const auto missing = [&](const AllocationBlock& lossy) {
        MemoryTrace trace;
        trace.add(encodeSlices(block));
        trace.add(encodeAllocations({.lane = 2, .rank = 1, .allocations = {{.at = 5, .address = 64, .bytes = 512}}}));
        trace.add(encodeAllocations(lossy));
        trace.finish();
        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> all;
        for (const MemoryOfDevice& one : panesOf(trace, 0, 1000).memory) all[{one.rank, one.device}] = one.missing;
        return all;
    };
    AllocationBlock lossy{.lane = 1, .lost = 7, .lostOf = {{.device = 0, .lost = 7}}};
    lossy.allocations = {{.at = 10, .address = 64, .bytes = 512}, {.at = 11, .address = 64, .bytes = 512, .device = 0}};
    using Missing = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;
    EXPECT_EQ(missing(lossy), (Missing{{{0, -1}, 0}, {{0, 0}, 7}, {{1, -1}, 0}}));
    lossy.invalid = 2;
    EXPECT_EQ(missing(lossy), (Missing{{{0, -1}, 2}, {{0, 0}, 9}, {{1, -1}, 0}}))
        << "of which device two of them were nobody knows; of another worker none";
    lossy.invalid = 0;
    lossy.lostOf = {{.device = 5, .lost = 7}};
    EXPECT_EQ(missing(lossy), (Missing{{{0, -1}, 7}, {{0, 0}, 7}, {{1, -1}, 0}})) << "a device of which nothing was kept has no curve to say it";
    lossy.lostOf.clear();
    EXPECT_EQ(missing(lossy), (Missing{{{0, -1}, 7}, {{0, 0}, 7}, {{1, -1}, 0}})) << "recorded before that was told";
}

TEST(RangePanes, EndsWhenSomethingNewerIsWanted) {
    const SmallGpuRun run;
    MemoryTrace trace;
    run.tell(trace, 8);
    int left = 1'000'000;
    PanesReader reader(trace, {}, [&] { return left-- > 0; });
    ASSERT_TRUE(reader.open());
    left = 5;
    const auto panes = reader.read(0, 0);
    ASSERT_FALSE(panes);
    EXPECT_EQ(panes.error().code, ErrorCode::Cancelled);
    left = 1'000'000;
    EXPECT_TRUE(reader.read(0, 0));
}

}  // namespace
}  // namespace stepscope
