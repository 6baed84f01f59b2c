// What kernels, copies and memsets come to by name, and whose they are: by ids, or by where the call that launched them was made, against a search
// through all operations, whatever the order of the blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/analysis/captures/KernelSummary.h"

namespace stepscope {
namespace {

// A block for each slice.
struct KernelCase {
    std::vector<SliceBlock> blocks;

    void add(const SliceThread& thread, const std::string& name, Slice slice, const SliceArguments& arguments = {}, const std::string& role = "") {
        SliceBlock block;
        block.thread = thread;
        block.strings = {"", name, role};
        block.arguments.push_back(arguments);
        slice.name = 1;
        slice.role = role.empty() ? 0 : 2;
        slice.arguments = 1;
        block.slices.push_back(slice);
        blocks.push_back(std::move(block));
    }
    void operation(const std::string& name, std::int64_t start, std::int64_t end, std::int64_t external = 0, std::int64_t rank = 0) {
        add({.process = 1, .thread = 10, .rank = rank}, name, {.start = start, .duration = end - start, .layer = 3, .external = external}, {},
            "mlp/up");
    }
    void call(std::int64_t start, std::int64_t correlation, std::int64_t external = 0, std::int64_t rank = 0) {
        add({.process = 1, .thread = 10, .rank = rank}, "cudaLaunchKernel",
            {.start = start, .duration = 2, .kind = SliceKind::Runtime, .correlation = correlation, .external = external});
    }
    void kernel(const std::string& name, std::int64_t duration, std::int64_t correlation = 0, std::int64_t external = 0, std::int64_t rank = 0,
                const SliceArguments& arguments = {}, SliceKind kind = SliceKind::Kernel) {
        add({.process = 0, .thread = 7, .device = 0, .rank = rank}, name,
            {.start = 1000, .duration = duration, .kind = kind, .correlation = correlation, .external = external}, arguments);
    }
    std::vector<LaunchedRow> rows(SummarySort sort = SummarySort::Total, std::size_t limit = 0) const {
        KernelSummary summary;
        for (const auto& block : blocks) summary.add(block);
        return summary.rows(sort, limit);
    }
};

TEST(KernelSummary, AddsUpLaunchesOfOneNameAndKeepsCopiesApart) {
    KernelCase one;
    one.kernel("gemm", 30);
    one.kernel("gemm", 10);
    one.kernel("gemm", 21);
    one.kernel("gemm", 5, 0, 0, 0, {.bytes = 400}, SliceKind::Memset);
    one.kernel("copy", 100, 0, 0, 0, {.bytes = 64}, SliceKind::Memcpy);
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].name, "copy");
    EXPECT_EQ(rows[1].name, "gemm");
    EXPECT_EQ(rows[1].kind, SliceKind::Kernel);
    EXPECT_EQ(rows[1].calls, 3);
    EXPECT_EQ(rows[1].total.ns, 61);
    EXPECT_EQ(rows[1].mean().ns, 20);
    EXPECT_EQ(rows[1].shortest.ns, 10);
    EXPECT_EQ(rows[1].longest.ns, 30);
    EXPECT_EQ(rows[2].kind, SliceKind::Memset);
    EXPECT_EQ(rows[2].calls, 1);
    EXPECT_EQ(rows[1].operation, "") << "nobody knows whose it is";
    EXPECT_EQ(rows[1].operations, 0);
}

TEST(KernelSummary, SortsByTimeOrByBytesAndEqualOnesByName) {
    KernelCase one;
    one.kernel("b", 10);
    one.kernel("a", 10);
    one.kernel("set", 4, 0, 0, 0, {.bytes = 7}, SliceKind::Memset);
    one.kernel("copy", 9, 0, 0, 0, {.bytes = 900}, SliceKind::Memcpy);
    const auto names = [&](SummarySort sort, std::size_t limit) {
        std::string all;
        for (const auto& row : one.rows(sort, limit)) all += row.name + " ";
        return all;
    };
    EXPECT_EQ(names(SummarySort::Total, 0), "a b copy set ");
    EXPECT_EQ(names(SummarySort::Memory, 0), "copy set a b ");
    EXPECT_EQ(names(SummarySort::Memory, 1), "copy ");
    EXPECT_EQ(names(SummarySort::Self, 9), "a b copy set ");
}

TEST(KernelSummary, SortsKernelsByWhatTheOperationThatLaunchedThemReadsAndWrites) {
    KernelCase one;
    one.add({.process = 1, .thread = 10}, "aten::mm", {.start = 0, .duration = 10, .external = 1}, {.text = "Float[4]", .flops = 10, .bytes = 5000});
    one.kernel("gemm", 10, 0, 1);
    one.kernel("copy", 90, 0, 0, 0, {.bytes = 900}, SliceKind::Memcpy);
    one.kernel("unknown", 20);
    one.kernel("another", 30);
    std::string all;
    for (const auto& row : one.rows(SummarySort::Memory)) all += row.name + " ";
    EXPECT_EQ(all, "gemm copy another unknown ") << "of what is unknown by time";
    EXPECT_EQ(one.rows(SummarySort::Memory)[0].moved(), 5000);
}

TEST(KernelFacts, WeighHowMuchOfTheGpusEachLaunchFillsByItsTime) {
    std::map<std::int64_t, DeviceSummary> devices;
    for (const std::int64_t rank : {0, 1}) {
        devices[rank].setShape(0, {.multiprocessors = 10, .threadsPerMultiprocessor = 2048});
        SliceBlock stream{.thread = {.process = 0, .thread = 7, .device = 0, .rank = rank}, .strings = {"", "gemm", "forward", "backward"}};
        stream.arguments.push_back({.grid = {rank == 0 ? 10 : 40, 1, 1}, .block = {256, 1, 1}});
        stream.slices.push_back({.start = 100,
                                 .duration = rank == 0 ? 30 : 10,
                                 .name = 1,
                                 .phase = rank == 0 ? 2U : 3U,
                                 .arguments = 1,
                                 .kind = SliceKind::Kernel,
                                 .correlation = 5});
        SliceBlock host{.thread = {.process = 1, .thread = 2, .rank = rank}, .strings = {"", "cudaLaunchKernel"}};
        host.slices.push_back({.start = 80, .duration = 5, .name = 1, .kind = SliceKind::Runtime, .correlation = 5});
        devices[rank].add(host);
        devices[rank].add(stream);
    }
    const auto all = kernelFacts(devices);
    ASSERT_TRUE(all.contains("gemm"));
    const KernelFacts& facts = all.at("gemm");
    EXPECT_DOUBLE_EQ(facts.blocksPerMultiprocessor, (1 * 30 + 4 * 10) / 40.0);
    EXPECT_NEAR(facts.occupancy, (0.125 * 30 + 0.5 * 10) / 40, 1e-6);
    EXPECT_EQ(facts.phase, "forward");
    EXPECT_EQ(facts.launched, 2);
    EXPECT_EQ(facts.launchDelay.ns, 20);
}

TEST(KernelSummary, TheOperationIsThatOfItsOwnIdThenOfItsCallsIdThenTheOneAroundTheCall) {
    KernelCase one;
    one.operation("by its own id", 0, 10, 1);
    one.operation("by the call's id", 20, 30, 2);
    one.operation("around the call", 40, 50);
    one.call(45, 100, 2), one.kernel("a", 5, 100, 1);
    one.call(46, 101, 2), one.kernel("b", 5, 101);
    one.call(47, 102), one.kernel("c", 5, 102, 99);  // of an id that no operation has
    one.call(60, 103), one.kernel("d", 5, 103, 0, 0, {.extra = R"({"operation":"as it says itself"})"});
    one.call(61, 104), one.kernel("e", 5, 104);
    std::string found;
    for (const auto& row : one.rows()) found += row.name + ": " + row.operation + "; ";
    EXPECT_EQ(found, "a: by its own id; b: by the call's id; c: around the call; d: as it says itself; e: ; ");
    EXPECT_EQ(one.rows()[2].layer, 3);
    EXPECT_EQ(one.rows()[2].role, "mlp/up");
    EXPECT_EQ(one.rows()[4].layer, -1);
}

TEST(KernelSummary, WhatAGraphReplaysIsOfThePlaceThatItNamesItselfAndOfTheOperationThatReplaysIt) {
    KernelCase one;
    one.add({.process = 1, .thread = 10}, "CUDA graph", {.start = 0, .duration = 50});
    one.call(10, 5);
    for (const std::int32_t layer : {2, 2, 0})
        one.add({.process = 0, .thread = 7, .device = 0}, "gemm",
                {.start = 1000 + layer, .duration = 30, .layer = layer, .kind = SliceKind::Kernel, .correlation = 5}, {}, "mlp/down");
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].operation, "CUDA graph");
    EXPECT_EQ(rows[0].operations, 1);
    EXPECT_EQ(rows[0].role, "mlp/down");
    EXPECT_EQ(rows[0].layer, 2);
}

TEST(KernelSummary, ANodeOfAGraphIsOfTheOperationThatItWasCapturedFromAndOthersOfTheOneThatLaunchedThem) {
    KernelCase one;
    one.operation("CUDA graph", 0, 50, 9);
    one.call(10, 5, 9);
    const auto add = [&](const std::string& name, std::int64_t duration, const std::string& extra) {
        one.add({.process = 0, .thread = 7, .device = 0}, name,
                {.start = 1000, .duration = duration, .layer = 2, .kind = SliceKind::Kernel, .correlation = 5, .external = 9}, {.extra = extra},
                "mlp/down");
    };
    add("node", 30, R"({"operation":"aten::mm","graph id":2,"graph node id":31})");
    add("unknown", 20, R"({"graph id":2,"graph node id":32})");
    add("alone", 10, R"({"operation":"aten::mm"})");
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].operation, "aten::mm");
    EXPECT_EQ(rows[0].operations, 1);
    EXPECT_EQ(rows[0].role, "mlp/down");
    EXPECT_EQ(rows[0].layer, 2);
    EXPECT_EQ(rows[1].operation, "CUDA graph") << "of what was captured nothing is known";
    EXPECT_EQ(rows[1].layer, 2);
    EXPECT_EQ(rows[2].operation, "CUDA graph") << "no graph replays it: what launched it is known by its number";
}

TEST(KernelSummary, NumbersOfOneWorkerAreNotThoseOfAnother) {
    KernelCase one;
    for (const std::int64_t rank : {0, 1, 2}) {
        one.operation("of worker " + std::to_string(rank), 0, 100, rank == 2 ? 0 : 5, rank);
        one.call(50, 8, 0, rank);
        one.kernel("k" + std::to_string(rank), 30 - rank, 8, rank == 2 ? 0 : 5, rank);
    }
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i].operation, "of worker " + std::to_string(i));
}

TEST(KernelSummary, OfSeveralShapesAndOperationsTellsThoseOfMostTimeAndHowManyThereAre) {
    KernelCase one;
    one.operation("often", 0, 10, 1);
    one.operation("long", 20, 30, 2);
    const SliceArguments small{.grid = {8, 1, 1}, .block = {32, 1, 1}, .registers = 16, .sharedBytes = 0};
    const SliceArguments large{.grid = {96, 2, 1}, .block = {256, 1, 1}, .registers = 64, .sharedBytes = 4096};
    for (int i = 0; i < 5; ++i) one.kernel("gemm", 10, 0, 1, 0, small);
    one.kernel("gemm", 60, 0, 2, 0, large);
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].operation, "long");
    EXPECT_EQ(rows[0].operations, 2);
    EXPECT_EQ(rows[0].grid, large.grid);
    EXPECT_EQ(rows[0].block, large.block);
    EXPECT_EQ(rows[0].registers, 64);
    EXPECT_EQ(rows[0].sharedBytes, 4096);
}

// With a clock of microseconds an operation begins and ends together with the one that called it.
TEST(KernelSummary, OfOperationsThatBeginAndEndTogetherTheCallBelongsToTheInnermost) {
    KernelCase one;
    const char* const names[] = {"aten::linear", "aten::addmm", "aten::mm"};
    for (const int depth : {1, 2, 0}) one.add({.process = 1, .thread = 10}, names[depth], {.start = 1000, .duration = 1000, .depth = depth});
    one.call(1000, 1), one.kernel("gemm", 5, 1);
    std::ranges::sort(one.blocks, {}, [](const SliceBlock& block) { return block.strings[1]; });
    do {
        const auto rows = one.rows();
        ASSERT_EQ(rows.size(), 1u);
        EXPECT_EQ(rows[0].operation, "aten::mm");
    } while (std::ranges::next_permutation(one.blocks, {}, [](const SliceBlock& block) { return block.strings[1]; }).found);
}

struct RandomCalls {
    struct Operation {
        std::int64_t rank, lane, start, end;
        std::int32_t depth;
    };
    std::vector<Operation> operations;

    void nest(std::mt19937& random, std::int64_t rank, std::int64_t lane, std::int64_t from, std::int64_t to, std::int32_t depth) {
        for (std::int64_t at = from; at < to;) {
            const std::int64_t end = at + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - at));
            if (random() % 4 != 0) {
                operations.push_back({rank, lane, at, end, depth});
                if (depth < 4) nest(random, rank, lane, at, end, depth + 1);
            }
            at = end + static_cast<std::int64_t>(random() % 3);
        }
    }
};

TEST(KernelSummary, FindsTheInnermostOperationAroundEveryCallInWhateverOrderBlocksCome) {
    std::mt19937 random(23);
    for (int round = 0; round < 40; ++round) {
        RandomCalls truth;
        for (const std::int64_t rank : {0, 1})
            for (const std::int64_t lane : {10, 20}) truth.nest(random, rank, lane, 0, 60, 0);
        KernelCase one;
        for (std::size_t i = 0; i < truth.operations.size(); ++i) {
            const auto& of = truth.operations[i];
            one.add({.process = 1, .thread = of.lane, .rank = of.rank}, "op" + std::to_string(i),
                    {.start = of.start, .duration = of.end - of.start, .depth = of.depth});
        }
        std::map<std::string, std::string> expected;
        for (std::int64_t call = 1; call <= 60; ++call) {
            const auto rank = static_cast<std::int64_t>(random() % 2), lane = 10 + 10 * static_cast<std::int64_t>(random() % 2);
            const auto at = static_cast<std::int64_t>(random() % 70);
            const std::string name = "k" + std::to_string(call);
            one.add({.process = 1, .thread = lane, .rank = rank}, "cudaLaunchKernel",
                    {.start = at, .duration = 1, .kind = SliceKind::Runtime, .correlation = call});
            one.kernel(name, 5, call, 0, rank);
            std::int32_t deepest = -1;
            expected[name];
            for (std::size_t i = 0; i < truth.operations.size(); ++i) {
                const auto& of = truth.operations[i];
                if (of.rank != rank || of.lane != lane || of.start > at || of.end <= at || of.depth <= deepest) continue;
                deepest = of.depth;
                expected[name] = "op" + std::to_string(i);
            }
        }
        std::ranges::shuffle(one.blocks, random);
        std::map<std::string, std::string> found;
        for (const auto& row : one.rows()) found[row.name] = row.operation;
        EXPECT_EQ(found, expected);
    }
}

// Steps of a thread with operations in operations, some with ids and sizes, calls and what these launched, on two GPUs of two workers.
struct LongRun {
    std::vector<SliceBlock> lanes;  // whole, a thread and its stream a worker

    explicit LongRun(int steps) {
        for (const std::int64_t rank : {0, 1}) {
            SliceBlock host{.thread = {.process = 1, .thread = 10, .rank = rank}, .strings = {"", "outer", "aten::mm", "aten::add", "launch", "mlp"}};
            SliceBlock stream{.thread = {.process = 0, .thread = 7, .lane = 1000, .device = 0, .rank = rank},
                              .strings = {"", "gemm", "add", "copy", "forward", "backward"}};
            host.arguments.push_back({.text = "Float[4]", .flops = 700, .bytes = 90});
            stream.arguments.push_back({.grid = {20, 1, 1}, .block = {256, 1, 1}});
            stream.arguments.push_back({.bytes = 6});
            for (std::int64_t i = 0; i < steps; ++i) {
                const std::int64_t at = 1000 * i, id = 3 * i + 1;
                const bool product = i % 3 != 0;
                host.slices.push_back({.start = at, .duration = 900, .name = 1, .depth = 0});
                host.slices.push_back({.start = at + 10,
                                       .duration = 800,
                                       .name = product ? 2U : 3U,
                                       .role = 5,
                                       .arguments = product ? 1U : 0U,
                                       .depth = 1,
                                       .layer = static_cast<std::int32_t>(i % 4),
                                       .external = i % 2 == 0 ? id : 0});
                for (std::int64_t call = 0; call < 2; ++call) {
                    host.slices.push_back({.start = at + 20 + 400 * call,
                                           .duration = 5,
                                           .name = 4,
                                           .depth = 2,
                                           .kind = SliceKind::Runtime,
                                           .correlation = id + call,
                                           .external = i % 4 == 0 ? id : 0});
                    const bool copy = i % 5 == 0 && call == 1;
                    stream.slices.push_back({.start = at + 30 + 400 * call + i % 7,
                                             .duration = 100 + i % 11,
                                             .name = copy      ? 3U
                                                     : product ? 1U
                                                               : 2U,
                                             .phase = i % 2 == 0 ? 4U : 5U,
                                             .arguments = copy ? 2U : 1U,
                                             .kind = copy ? SliceKind::Memcpy : SliceKind::Kernel,
                                             .correlation = id + call,
                                             .external = i % 8 == 0 ? id : 0});
                }
            }
            lanes.push_back(std::move(host));
            lanes.push_back(std::move(stream));
        }
    }
    // Lane by lane, so many slices a block.
    template <class Take>
    void eachBlock(std::size_t size, const Take& take) const {
        for (const SliceBlock& lane : lanes)
            for (std::size_t from = 0; from < lane.slices.size(); from += size) {
                SliceBlock block = lane;
                const auto first = lane.slices.begin() + static_cast<std::ptrdiff_t>(from);
                block.slices.assign(first, first + static_cast<std::ptrdiff_t>(std::min(size, lane.slices.size() - from)));
                take(block);
            }
    }
};

void expectSameRows(const std::vector<LaunchedRow>& found, const std::vector<LaunchedRow>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const LaunchedRow &one = found[i], &other = expected[i];
        EXPECT_EQ(one.name, other.name);
        EXPECT_EQ(one.kind, other.kind);
        EXPECT_EQ(one.calls, other.calls);
        EXPECT_EQ(one.total.ns, other.total.ns);
        EXPECT_EQ(one.shortest.ns, other.shortest.ns);
        EXPECT_EQ(one.longest.ns, other.longest.ns);
        EXPECT_EQ(one.operation, other.operation);
        EXPECT_EQ(one.operations, other.operations);
        EXPECT_EQ(one.layer, other.layer);
        EXPECT_EQ(one.role, other.role);
        EXPECT_EQ(one.type, other.type);
        EXPECT_EQ(one.bytes, other.bytes);
        EXPECT_EQ(one.worked.ns, other.worked.ns);
        EXPECT_NEAR(one.flops, other.flops, 1e-6 * other.flops);
        EXPECT_NEAR(one.movedBytes, other.movedBytes, 1e-6 * other.movedBytes);
    }
}

TEST(KernelSummary, LaneByLaneItHoldsWhatABlockMayReachAndSaysTheSame) {
    const LongRun run(3000);
    KernelSummary any;
    for (const SliceBlock& lane : run.lanes) any.add(lane);
    const auto expected = any.rows(SummarySort::Memory);
    ASSERT_EQ(expected.size(), 3u);
    ASSERT_GT(expected[0].flops, 0);
    for (const std::size_t size : {1u, 16u, 999u}) {
        KernelSummary kernels(KernelSummary::Blocks::LaneByLane);
        std::size_t most = 0;
        run.eachBlock(size, [&](const SliceBlock& block) {
            kernels.add(block);
            most = std::max(most, kernels.waiting());
        });
        EXPECT_LE(most, size + 8) << "a block, and what is open around it";
        expectSameRows(kernels.rows(SummarySort::Memory), expected);
        EXPECT_EQ(kernels.waiting(), 0u);
    }
    EXPECT_LE(KernelSummary::bytesNeeded(1'000'000), 48'000'000);
}

TEST(KernelSummary, BeyondItsBoundItHoldsNothingAndStillTellsWhatKernelsTook) {
    const LongRun run(300);
    std::int64_t held = 0;
    run.eachBlock(999, [&](const SliceBlock& block) {
        held += std::ranges::count_if(block.slices, [](const Slice& slice) {
            return isOperation(slice.kind) || isDeviceWork(slice.kind) || slice.kind == SliceKind::Runtime || slice.kind == SliceKind::Driver;
        });
    });
    const auto summed = [&](std::int64_t most) {
        auto kernels = std::make_unique<KernelSummary>(KernelSummary::Blocks::LaneByLane, GpuShapes{}, most);
        run.eachBlock(16, [&](const SliceBlock& block) { kernels->add(block); });
        return kernels;
    };
    const auto whole = summed(held), bounded = summed(held - 1);
    EXPECT_TRUE(whole->launchersKnown()) << "so many are held";
    EXPECT_FALSE(bounded->launchersKnown());
    EXPECT_EQ(bounded->waiting(), 0u);
    const auto expected = whole->rows(SummarySort::Total), found = bounded->rows(SummarySort::Total);
    ASSERT_EQ(found.size(), expected.size());
    ASSERT_FALSE(expected[0].operation.empty());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].calls, expected[i].calls);
        EXPECT_EQ(found[i].total.ns, expected[i].total.ns);
        EXPECT_EQ(found[i].longest.ns, expected[i].longest.ns);
        EXPECT_EQ(found[i].bytes, expected[i].bytes);
        EXPECT_EQ(found[i].operation, "") << "of some of them it would be a guess";
        EXPECT_EQ(found[i].flops, 0);
    }
    for (const auto& [name, facts] : bounded->facts()) EXPECT_EQ(facts.launched, 0) << name;
}

TEST(KernelSummary, BeyondItsBoundAKernelStillSaysWhatItSaysOfItself) {
    KernelCase one;
    one.operation("aten::mm", 0, 10, 1);
    one.kernel("gemm", 10, 0, 1, 0, {.extra = R"({"operation":"captured"})"});
    KernelSummary kernels(KernelSummary::Blocks::InAnyOrder, {}, 1);
    for (const auto& block : one.blocks) kernels.add(block);
    EXPECT_FALSE(kernels.launchersKnown());
    const auto rows = kernels.rows(SummarySort::Total);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].operation, "captured");
}

TEST(KernelSummary, TellsTheFactsOfKernelsThatTheirStreamsTell) {
    const LongRun run(500);
    GpuShapes gpus;
    gpus.first[0] = {.multiprocessors = 10, .threadsPerMultiprocessor = 2048};
    gpus.ofRank[1][0] = {.multiprocessors = 40, .threadsPerMultiprocessor = 1024};
    std::map<std::int64_t, DeviceSummary> devices;
    for (const std::int64_t rank : {0, 1}) devices[rank].setShapes(gpus, rank);
    KernelSummary kernels(KernelSummary::Blocks::LaneByLane, gpus);
    run.eachBlock(50, [&](const SliceBlock& block) {
        kernels.add(block);
        devices[block.thread.rank].add(block);
    });
    const auto expected = kernelFacts(devices);
    const auto found = kernels.facts();
    ASSERT_EQ(found.size(), 2u) << "of kernels, not of copies";
    ASSERT_EQ(expected.size(), 2u);
    for (const auto& [name, facts] : expected) {
        ASSERT_TRUE(found.contains(name));
        const KernelFacts& one = found.at(name);
        EXPECT_EQ(one.phase, facts.phase);
        EXPECT_EQ(one.launched, facts.launched);
        EXPECT_GT(one.launched, 0);
        EXPECT_EQ(one.launchDelay.ns, facts.launchDelay.ns);
        EXPECT_DOUBLE_EQ(one.blocksPerMultiprocessor, facts.blocksPerMultiprocessor);
        EXPECT_DOUBLE_EQ(one.occupancy, facts.occupancy);
        EXPECT_GT(one.occupancy, 0);
    }
}

// A profiler may give several slices one number: the first operation is meant, with what the first that says so computes.
TEST(KernelSummary, OfOperationsWithOneNumberTheFirstIsTheLauncherAndTheFirstWithSizesTellsThem) {
    KernelCase one;
    one.operation("first", 0, 10, 1);
    one.add({.process = 1, .thread = 10}, "second", {.start = 2, .duration = 4, .external = 1}, {.text = "Float[4]", .flops = 10, .bytes = 50});
    one.add({.process = 1, .thread = 10}, "third", {.start = 3, .duration = 2, .external = 1}, {.text = "Float[4]", .flops = 77, .bytes = 99});
    one.kernel("gemm", 10, 0, 1);
    const auto rows = one.rows();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].operation, "first");
    EXPECT_DOUBLE_EQ(rows[0].flops, 10);
    EXPECT_DOUBLE_EQ(rows[0].movedBytes, 50);
}

TEST(KernelSummary, TimesAndBytesOfAStrangerDoNotOverflow) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    KernelCase one;
    one.operation("outermost", 0, 100);
    one.add({.process = 1, .thread = 10}, "ends beyond the end", {.start = kMost - 1, .duration = 10});
    one.call(50, 1);
    for (int i = 0; i < 3; ++i) one.kernel("copy", kMost, 1, 0, 0, {.bytes = kMost}, SliceKind::Memcpy);
    KernelSummary summary;
    for (const auto& block : one.blocks) summary.add(block);
    EXPECT_EQ(summary.total().ns, kMost);
    const auto rows = summary.rows(SummarySort::Total);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].total.ns, kMost);
    EXPECT_EQ(rows[0].bytes, kMost);
    EXPECT_EQ(rows[0].calls, 3);
    EXPECT_EQ(rows[0].operation, "outermost");
}

}  // namespace
}  // namespace stepscope
