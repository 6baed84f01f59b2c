// Two captures side by side: where the steps of each begin, and that a slice of one is found again in the other by its step, its part of the model
// and how often it was called before, whatever the times, threads and names of steps are.
#include <gtest/gtest.h>

#include "core/trace/SamePlace.h"
#include "core/trace/SliceCodec.h"
#include "tests/core/trace/MemoryTrace.h"

namespace stepscope {
namespace {

constexpr std::uint32_t kMm = 1, kGelu = 2, kFused = 3, kForward = 4, kBackward = 5, kQkv = 6, kMlp = 7, kGemm = 8, kStep = 9;

// Steps of `length` ns from `begin` on, numbered from `first`; in each of `layers` a product of the same name twice, and a gelu unless it is fused.
struct SideTrace {
    struct Plan {
        std::int64_t begin = 0, length = 1000, first = 1, steps = 2, layers = 2;
        bool fused = false, tellsSteps = true, device = false;
        std::int64_t lane = 10;
    };
    MemoryTrace trace;
    TraceIndex index{trace};
    TraceLanes lanes;
    CapturedPart part;

    explicit SideTrace(const Plan& plan) {
        SliceBlock host{.thread = {.process = 1, .thread = plan.lane, .name = "trainer", .lane = plan.lane},
                        .strings = {"", "aten::mm", "aten::gelu", "fused", "forward", "backward", "attention", "mlp", "gemm", "step"}};
        SliceBlock stream{.thread = {.thread = 7, .lane = plan.lane + 1, .device = 0}, .strings = host.strings};
        for (std::int64_t step = 0; step < plan.steps; ++step) {
            const std::int64_t at = plan.begin + step * plan.length;
            const auto put = [&](SliceBlock& block, std::int64_t from, std::int64_t duration, std::uint32_t name, std::uint32_t role,
                                 std::int32_t layer, SliceKind kind) {
                block.slices.push_back({.start = at + from,
                                        .duration = duration,
                                        .name = name,
                                        .phase = role == 0 ? 0 : kForward,
                                        .role = role,
                                        .depth = kind == SliceKind::Operation ? 1 : 0,
                                        .layer = layer,
                                        .kind = kind,
                                        .step = plan.first + step});
            };
            put(host, 0, plan.tellsSteps ? plan.length - 10 : 1, plan.tellsSteps ? kStep : kBackward, 0, -1,
                plan.tellsSteps ? SliceKind::Step : SliceKind::Annotation);
            const std::int64_t each = (plan.length - 20) / plan.layers;
            for (std::int64_t layer = 0; layer < plan.layers; ++layer) {
                const std::int64_t from = 5 + layer * each;
                const auto number = static_cast<std::int32_t>(layer);
                put(host, from, each / 8, kMm, kQkv, number, SliceKind::Operation);
                put(host, from + each / 4, each / 8, kMm, kQkv, number, SliceKind::Operation);
                put(host, from + each / 2, each / 8, plan.fused ? kFused : kGelu, kMlp, number, SliceKind::Operation);
                // Work of a device lags behind: the last of it is done when the next step has begun.
                if (plan.device) put(stream, from + plan.length * 3 / 4, each / 8, kGemm, kQkv, number, SliceKind::Kernel);
            }
        }
        trace.add(encodeSlices(host));
        if (!stream.slices.empty()) trace.add(encodeSlices(stream));
        trace.finish();
        auto found = index.lanes();
        EXPECT_TRUE(found);
        lanes = *found;
        auto some = capturedPart(index, lanes, lanes.begin, lanes.end);
        EXPECT_TRUE(some);
        part = *some;
    }
    CapturedSide side() { return {index, lanes, part}; }
    // The n-th of a name, from 0.
    TraceSlice slice(const std::string& name, int n) {
        TracePlace from = TracePlace::before(lanes.begin);
        for (int i = 0;; ++i) {
            auto found = index.find(name, from, true);
            EXPECT_TRUE(found && *found) << name << ' ' << n;
            if (!found || !*found) return {};
            if (i == n) return **found;
            from = (*found)->place();
        }
    }
};

TEST(SamePlaceOf, StepsAreThoseThatBeginInThePart) {
    SideTrace side({.begin = 5000, .length = 1000, .first = 40, .steps = 4});
    ASSERT_EQ(side.part.steps.size(), 4u);
    EXPECT_EQ(side.part.origin(), 5000);
    EXPECT_EQ(side.part.steps[3], (StepTime{43, 8000, 8990}));
    const auto later = capturedPart(side.index, side.lanes, 5500, 7500);
    ASSERT_TRUE(later);
    ASSERT_EQ(later->steps.size(), 2u) << "one that has begun before is not of it";
    EXPECT_EQ(later->origin(), 6000);
    SideTrace silent({.begin = 300, .tellsSteps = false});
    EXPECT_TRUE(silent.part.steps.empty());
    EXPECT_EQ(silent.part.origin(), 300);
}

// Counts the blocks of slices that are read.
struct CountedTrace final : TraceSource {
    MemoryTrace trace;
    int blocks = 0;
    Result<std::vector<TraceSourceLane>> lanes() override { return trace.lanes(); }
    Status read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                const std::function<Status(const Chunk&)>& take) override {
        return trace.read(kind, lane, from, to, [&](const Chunk& chunk) {
            if (isSlices(chunk.kind)) ++blocks;
            return take(chunk);
        });
    }
};

TEST(SamePlaceOf, StepsOfALargeCaptureAreFoundWithoutReadingTheBlocksThatHoldNone) {
    constexpr std::int64_t kSteps = 5, kBlocks = 20, kEach = 100, kLength = kBlocks * kEach * 10;
    CountedTrace source;
    std::vector<StepTime> steps;
    const SliceBlock empty{.thread = {.process = 1, .thread = 7, .name = "trainer", .lane = 7}, .strings = {"", "step", "aten::mm"}};
    for (std::int64_t step = 0; step < kSteps; ++step)
        for (std::int64_t block = 0; block < kBlocks; ++block) {
            SliceBlock some = empty;
            const std::int64_t at = step * kLength + block * kEach * 10;
            // A step reaches into all blocks of its operations.
            if (block == 0) {
                some.slices.push_back({.start = at, .duration = kLength - 5, .name = 1, .kind = SliceKind::Step, .step = step + 30});
                steps.push_back({step + 30, at, at + kLength - 5});
            }
            for (std::int64_t i = 0; i < kEach; ++i)
                some.slices.push_back({.start = at + i * 10 + 1, .duration = 5, .name = 2, .depth = 1, .step = step + 30});
            source.trace.add(encodeSlices(some));
        }
    TraceIndex young(source);
    const auto before = young.lanes();
    ASSERT_TRUE(before);
    const auto unfinished = capturedPart(young, *before, 0, kSteps * kLength);
    ASSERT_TRUE(unfinished);
    EXPECT_EQ(unfinished->steps, steps) << "while it is being recorded every block is read";
    source.trace.finish();
    TraceIndex index(source);
    const auto lanes = index.lanes();
    ASSERT_TRUE(lanes && lanes->lanes.size() == 1 && lanes->lanes[0].steps);
    source.blocks = 0;
    const auto part = capturedPart(index, *lanes, 0, kSteps * kLength);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->steps, steps);
    EXPECT_LE(source.blocks, kSteps * 2);
    const auto two = capturedPart(index, *lanes, kLength, 3 * kLength);
    ASSERT_TRUE(two);
    EXPECT_EQ(two->steps, (std::vector{steps[1], steps[2]})) << "those that begin in it";
}

TEST(SamePlaceOf, ACallIsFoundAgainByItsStepItsLayerAndHowOftenItWasCalledBefore) {
    SideTrace a({.begin = 0, .length = 1000, .first = 1, .steps = 2});
    SideTrace b({.begin = 90'000, .length = 400, .first = 700, .steps = 3, .lane = 44});
    // Four a step: two of either layer.
    for (int n = 0; n < 8; ++n) {
        const auto found = samePlace(a.side(), a.slice("aten::mm", n), b.side());
        ASSERT_TRUE(found) << found.error().sentence;
        EXPECT_EQ(found->step, n / 4 + 1);
        ASSERT_TRUE(found->slice.has_value()) << n;
        EXPECT_EQ(found->slice->place(), b.slice("aten::mm", n).place()) << n;
        const auto back = samePlace(b.side(), *found->slice, a.side());
        ASSERT_TRUE(back && back->slice);
        EXPECT_EQ(back->slice->place(), a.slice("aten::mm", n).place()) << "the other way round it is the first";
    }
    const auto step = samePlace(a.side(), a.slice("step", 1), b.side());
    ASSERT_TRUE(step && step->slice);
    EXPECT_EQ(step->slice->slice.start, 90'400) << "steps are found by their place, not by their number";
}

TEST(SamePlaceOf, WhatIsNotThereIsSaidAndWhatStandsForItIsFound) {
    SideTrace a({.steps = 3});
    SideTrace b({.begin = 50'000, .steps = 2, .layers = 1, .fused = true});
    const auto gelu = samePlace(a.side(), a.slice("aten::gelu", 0), b.side());
    ASSERT_TRUE(gelu && gelu->slice);
    EXPECT_EQ(gelu->slice->name, "fused") << "another name in the same phase, layer and part";
    const auto second = samePlace(a.side(), a.slice("aten::gelu", 1), b.side());
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->slice) << "the other model has no second layer";
    const auto third = samePlace(a.side(), a.slice("aten::mm", 8), b.side());
    ASSERT_TRUE(third);
    EXPECT_EQ(third->step, 3);
    EXPECT_FALSE(third->slice) << "the other capture has two steps";
}

TEST(SamePlaceOf, AKernelThatRunsWhenTheNextStepHasBegunIsOfItsOwnStep) {
    SideTrace a({.length = 1000, .device = true});
    SideTrace b({.begin = 70'000, .length = 2000, .device = true, .lane = 90});
    for (int n = 0; n < 4; ++n) {
        const TraceSlice kernel = a.slice("gemm", n);
        const auto found = samePlace(a.side(), kernel, b.side());
        ASSERT_TRUE(found && found->slice) << n;
        EXPECT_EQ(found->step, kernel.slice.step);
        EXPECT_EQ(found->slice->place(), b.slice("gemm", n).place()) << n;
    }
    EXPECT_GT(a.slice("gemm", 1).slice.start, a.part.steps[1].start) << "the second layer's is late";
}

TEST(SamePlaceOf, WhereNobodyTellsOfStepsAllOfItIsAsOne) {
    SideTrace a({.steps = 2, .tellsSteps = false});
    SideTrace b({.begin = 30'000, .steps = 2});
    const auto found = samePlace(a.side(), a.slice("aten::mm", 5), b.side());
    ASSERT_TRUE(found && found->slice);
    EXPECT_EQ(found->step, 0);
    EXPECT_EQ(found->slice->place(), b.slice("aten::mm", 5).place());
}

TEST(SamePlaceOf, EndsWhereNobodyWantsTheAnswerAnyMore) {
    SideTrace a(SideTrace::Plan{}), b({.begin = 9000});
    bool goesOn = true;
    TraceIndex shy(b.trace, [&] { return goesOn; });
    ASSERT_TRUE(shy.lanes());
    goesOn = false;
    const auto found = samePlace(a.side(), a.slice("aten::mm", 0), {shy, b.lanes, b.part});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::Cancelled);
    EXPECT_FALSE(capturedPart(shy, b.lanes, 0, 10'000));
}

}  // namespace
}  // namespace stepscope
