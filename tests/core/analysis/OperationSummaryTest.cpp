// Captured slices added up: own and total time, places, the ways to group and to sort, and the same answer however the slices were cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/analysis/captures/OperationMemory.h"
#include "core/analysis/captures/OperationSummary.h"

namespace stepscope {
namespace {

SliceBlock twoLayers() {
    SliceBlock block;
    block.strings = {"", "aten::linear", "aten::addmm", "mlp/up", "mlp/down", "forward", "backward", "head/loss"};
    block.arguments = {{}, {"Float[2,3]", 1000, 64}};
    block.slices = {
        {.start = 0, .duration = 100, .called = 90, .name = 1, .phase = 5, .role = 3, .layer = 0, .step = 1},
        {.start = 5, .duration = 90, .name = 2, .phase = 5, .role = 3, .arguments = 1, .depth = 1, .layer = 0, .step = 1},
        {.start = 200, .duration = 300, .called = 250, .name = 1, .phase = 5, .role = 4, .layer = 1, .step = 1},
        {.start = 210, .duration = 250, .name = 2, .phase = 5, .role = 4, .arguments = 1, .depth = 1, .layer = 1, .step = 1},
        {.start = 600, .duration = 40, .name = 2, .phase = 6, .role = 7, .step = 1, .sequence = 3},
        {.start = 650, .duration = 10, .name = 2, .phase = 6, .step = 1},
        {.start = 0, .duration = 1000, .kind = SliceKind::Step, .step = 1},
        {.start = 0, .duration = 500, .name = 5, .kind = SliceKind::Phase, .step = 1},
    };
    return block;
}

std::string shown(const std::vector<SummaryRow>& rows) {
    std::string text;
    for (const auto& row : rows)
        text += row.name + " calls " + std::to_string(row.calls) + " self " + std::to_string(row.self.ns) + " total " + std::to_string(row.total.ns) +
                " layer " + std::to_string(row.layer) + " role " + row.role + " of " + std::to_string(row.places) + " bytes " +
                std::to_string(row.bytes) + "\n";
    return text;
}

TEST(OperationSummary, AddsUpByOperationWithThePlaceWhereMostOfItsTimeWent) {
    OperationSummary summary;
    summary.add(twoLayers());
    EXPECT_EQ(shown(summary.rows(SummaryBy::Operation, SummarySort::Self)),
              "aten::addmm calls 4 self 390 total 390 layer 1 role mlp/down of 4 bytes 128\n"
              "aten::linear calls 2 self 60 total 400 layer 1 role mlp/down of 2 bytes 0\n");
    const auto rows = summary.rows(SummaryBy::Operation, SummarySort::Total, 1);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].name, "aten::linear");
    EXPECT_EQ(rows[0].mean().ns, 200);
    EXPECT_EQ(rows[0].shortest.ns, 100);
    EXPECT_EQ(rows[0].longest.ns, 300);
    EXPECT_EQ(summary.rows(SummaryBy::Operation, SummarySort::Memory)[0].bytes, 128);
    EXPECT_EQ(summary.rows(SummaryBy::Operation, SummarySort::Memory)[0].flops, 2000);
}

TEST(OperationSummary, AddsUpByLayerAndByRoleWithoutCountingTwice) {
    OperationSummary summary;
    summary.add(twoLayers());
    EXPECT_EQ(shown(summary.rows(SummaryBy::Layer, SummarySort::Self)),
              "layer 1 calls 2 self 300 total 300 layer 1 role  of 1 bytes 64\n"
              "layer 0 calls 2 self 100 total 100 layer 0 role  of 1 bytes 64\n"
              "head/loss calls 1 self 40 total 40 layer -1 role head/loss of 1 bytes 0\n"
              "none calls 1 self 10 total 10 layer -1 role  of 1 bytes 0\n");
    EXPECT_EQ(shown(summary.rows(SummaryBy::Role, SummarySort::Self)),
              "mlp/down calls 2 self 300 total 300 layer -1 role mlp/down of 1 bytes 64\n"
              "mlp/up calls 2 self 100 total 100 layer -1 role mlp/up of 1 bytes 64\n"
              "head/loss calls 1 self 40 total 40 layer -1 role head/loss of 1 bytes 0\n"
              "none calls 1 self 10 total 10 layer -1 role  of 1 bytes 0\n");
    EXPECT_TRUE(summary.rows(SummaryBy::Kernel, SummarySort::Self).empty());
}

TEST(OperationSummary, AddsUpLayersAndRolesOfWhatRanOnAGpuWhereItsPlacesAreKnown) {
    SliceBlock gpu;
    gpu.strings = {"", "gemm", "mlp/up", "Memset"};
    gpu.arguments = {{}};
    gpu.slices = {
        {.start = 0, .duration = 40, .name = 1, .role = 2, .layer = 0, .kind = SliceKind::Kernel, .step = 1},
        {.start = 50, .duration = 50, .name = 1, .role = 2, .layer = 1, .kind = SliceKind::Kernel, .step = 1},
        {.start = 110, .duration = 5, .name = 3, .kind = SliceKind::Memset, .step = 1},
    };
    OperationSummary summary;
    summary.add(twoLayers());
    EXPECT_FALSE(summary.ofDevice(SummaryBy::Layer));
    EXPECT_EQ(summary.whole(SummaryBy::Layer).ns, 450);
    summary.add(gpu);
    EXPECT_TRUE(summary.ofDevice(SummaryBy::Layer));
    EXPECT_TRUE(summary.ofDevice(SummaryBy::Role));
    EXPECT_FALSE(summary.ofDevice(SummaryBy::Operation));
    EXPECT_EQ(summary.whole(SummaryBy::Role).ns, 95);
    EXPECT_EQ(shown(summary.rows(SummaryBy::Layer, SummarySort::Self)),
              "layer 1 calls 1 self 50 total 50 layer 1 role  of 1 bytes 0\n"
              "layer 0 calls 1 self 40 total 40 layer 0 role  of 1 bytes 0\n"
              "none calls 1 self 5 total 5 layer -1 role  of 1 bytes 0\n");
    EXPECT_EQ(shown(summary.rows(SummaryBy::Role, SummarySort::Self)),
              "mlp/up calls 2 self 90 total 90 layer -1 role mlp/up of 1 bytes 0\n"
              "none calls 1 self 5 total 5 layer -1 role  of 1 bytes 0\n");
    // An imported trace's kernels have no places: its layers are those of operations.
    for (auto& slice : gpu.slices) slice = {.start = slice.start, .duration = slice.duration, .name = slice.name, .kind = slice.kind, .step = 1};
    OperationSummary imported;
    imported.add(twoLayers());
    imported.add(gpu);
    EXPECT_FALSE(imported.ofDevice(SummaryBy::Layer));
}

TEST(OperationSummary, KnowsTheWholeAndTheShareOfTheBackwardPassThatHasAPlace) {
    OperationSummary summary;
    SliceBlock block = twoLayers();
    block.lost = 3;
    block.invalid = 4;
    summary.add(block);
    const auto& totals = summary.totals();
    EXPECT_EQ(totals.slices, 8);
    EXPECT_EQ(totals.operations, 6);
    EXPECT_EQ(totals.steps, 1);
    EXPECT_EQ(totals.lastStep, 1);
    EXPECT_EQ(totals.stepTime.ns, 1000);
    EXPECT_EQ(totals.self.ns, 450);
    EXPECT_EQ(totals.lost, 3);
    EXPECT_EQ(totals.invalid, 4);
    EXPECT_EQ(totals.backward.ns, 50);
    EXPECT_EQ(totals.backwardPlaced.ns, 40);
}

TEST(OperationSummary, GivesTheSameRowsHoweverSlicesWereCutAndInWhicheverOrder) {
    SliceBlock whole = twoLayers();
    std::mt19937_64 random(4);
    for (int i = 0; i < 500; ++i) {
        Slice slice = whole.slices[random() % 6];
        slice.start = static_cast<std::int64_t>(random() % 100'000);
        slice.duration = slice.called + static_cast<std::int64_t>(random() % 1000);
        slice.layer = static_cast<std::int32_t>(random() % 4) - 1;
        whole.slices.push_back(slice);
    }
    OperationSummary once;
    once.add(whole);
    for (const std::size_t most : {1UL, 7UL, 100UL}) {
        std::vector<SliceBlock> parts;
        for (std::size_t from = 0; from < whole.slices.size(); from += most) {
            SliceBlock part = whole;
            const auto begin = whole.slices.begin() + static_cast<std::ptrdiff_t>(from);
            part.slices.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min(most, whole.slices.size() - from)));
            parts.push_back(part);
        }
        std::shuffle(parts.begin(), parts.end(), random);
        OperationSummary cut;
        for (const auto& part : parts) cut.add(part);
        for (const SummaryBy by : {SummaryBy::Operation, SummaryBy::Layer, SummaryBy::Role})
            for (const SummarySort sort : {SummarySort::Self, SummarySort::Total, SummarySort::Memory})
                EXPECT_EQ(shown(cut.rows(by, sort)), shown(once.rows(by, sort))) << "blocks of " << most;
    }
}

TEST(OperationSummary, CountsTheTimeOfACallWithinOneOfItsOwnNameOnce) {
    SliceBlock block;
    block.thread = {.process = 1, .thread = 4};
    block.strings = {"", "aten::mul", "aten::to", "forward"};
    block.slices = {
        {.start = 0, .duration = 100, .called = 70, .name = 1, .phase = 3, .layer = 0},
        {.start = 10, .duration = 70, .called = 40, .name = 2, .phase = 3, .depth = 1, .layer = 0},
        {.start = 20, .duration = 40, .called = 10, .name = 1, .phase = 3, .depth = 2, .layer = 1},
        {.start = 25, .duration = 10, .name = 1, .phase = 3, .depth = 3, .layer = 1},
        {.start = 100, .duration = 50, .name = 1, .phase = 3, .layer = 0},
    };
    SliceBlock beside = block;  // the same on another thread
    beside.thread.thread = 5;
    std::vector<std::size_t> order{0, 1, 2, 3, 4};
    do {
        OperationSummary summary;
        for (const std::size_t at : order) {  // a block each, in every order
            SliceBlock one = block;
            one.slices = {block.slices[at]};
            summary.add(one);
        }
        summary.add(beside);
        const auto rows = summary.rows(SummaryBy::Operation, SummarySort::Total);
        ASSERT_EQ(rows.size(), 2u);
        EXPECT_EQ(rows[0].name, "aten::mul");
        EXPECT_EQ(rows[0].total.ns, 2 * 150);
        EXPECT_EQ(rows[0].calls, 8);
        EXPECT_EQ(rows[0].self.ns, 2 * 120);
        EXPECT_EQ(rows[0].mean().ns, 2 * 200 / 8) << "a call is as long as it is";
        EXPECT_EQ(rows[1].total.ns, 2 * 70);
    } while (std::ranges::next_permutation(order).found);
}

TEST(OperationSummary, StaysWithinBoundsWhateverAFileSays) {
    SliceBlock block;
    block.strings = {"", "x"};
    for (int i = 0; i < 3; ++i) block.slices.push_back({.start = 0, .duration = std::numeric_limits<std::int64_t>::max(), .name = 1});
    OperationSummary summary;
    summary.add(block);
    EXPECT_EQ(summary.rows(SummaryBy::Operation, SummarySort::Self)[0].self.ns, std::numeric_limits<std::int64_t>::max());
}

TEST(OperationSummary, KnowsItsWords) {
    EXPECT_EQ(*summaryBy("layer"), SummaryBy::Layer);
    EXPECT_EQ(*summarySort("memory"), SummarySort::Memory);
    EXPECT_FALSE(summaryBy("thread"));
    EXPECT_FALSE(summarySort(""));
}

TEST(OperationMemory, CountsWhatWasTakenByOwnerAndSortsByIt) {
    AllocationBlock block;
    block.strings = {"", "aten::mm", "aten::add"};
    block.allocations = {
        {.at = 1, .bytes = 100, .owner = 1}, {.at = 2, .bytes = -100, .owner = 1}, {.at = 3, .bytes = 300, .owner = 2}, {.at = 4, .bytes = 50}};
    OperationMemory memory;
    EXPECT_FALSE(memory.known());
    memory.add(block);
    block.allocations = {{.at = 5, .bytes = 100, .owner = 1}};
    memory.add(block);
    EXPECT_TRUE(memory.known());
    EXPECT_EQ(memory.of("aten::mm"), 200);
    EXPECT_EQ(memory.of("aten::add"), 300);
    EXPECT_EQ(memory.of("aten::gelu"), 0);
    std::vector<SummaryRow> rows{{.name = "aten::gelu"}, {.name = "aten::mm"}, {.name = "aten::add"}, {.name = "aten::sum"}};
    memory.sort(rows);
    EXPECT_EQ(rows[0].name, "aten::add");
    EXPECT_EQ(rows[1].name, "aten::mm");
    EXPECT_EQ(rows[2].name, "aten::gelu") << "those that took nothing stay as they were";
}

TEST(OperationMemory, DoesNotOverflowOnWhatAStrangerWrote) {
    AllocationBlock block;
    block.strings = {"", "x"};
    block.allocations = {{.bytes = std::numeric_limits<std::int64_t>::max(), .owner = 1}, {.bytes = 5, .owner = 1}};
    OperationMemory memory;
    memory.add(block);
    EXPECT_EQ(memory.of("x"), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace stepscope
