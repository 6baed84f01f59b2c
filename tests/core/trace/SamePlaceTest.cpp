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
