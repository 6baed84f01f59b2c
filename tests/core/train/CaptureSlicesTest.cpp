// What a Capture records one by one: every operation with its place, in each Program; backward functions with the layer and role of their forward
// operation; nothing lost, properly nested, and the same sums as the table of the same capture.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "TinyTraining.h"
#include "core/analysis/captures/OperationSummary.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

using testing::TinyTrainer;

// Keeps the slices, and hands the events on.
class SliceSink final : public EventSink {
public:
    explicit SliceSink(EventSink& events) : m_events(events) {}
    void publish(Event event) override { m_events.publish(std::move(event)); }
    void publishChunk(ChunkPtr chunk) override {
        if (chunk->kind == kNote) notes.push_back(noteOf(*chunk));
        if (!isSlices(chunk->kind)) return;
        auto block = decodeSlices(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        bytes += chunk->bytes.size();
        blocks.push_back(std::move(*block));
    }

    struct Shown {
        std::string name, phase, role;
        Slice slice;
        std::int64_t thread;
    };
    std::vector<Shown> all() const {
        std::vector<Shown> found;
        for (const auto& block : blocks)
            for (const auto& slice : block.slices)
                found.push_back({block.strings[slice.name], block.strings[slice.phase], block.strings[slice.role], slice, block.thread.thread});
        return found;
    }
    OperationSummary summary() const {
        OperationSummary summary;
        for (const auto& block : blocks) summary.add(block);
        return summary;
    }
    std::vector<SliceBlock> blocks;
    std::vector<std::string> notes;
    std::size_t bytes = 0;

private:
    EventSink& m_events;
};

struct Captured {
    Captured(const RunConfig& config, const Capture& asked) : trainer(config), slices(trainer.sink) {
        trainer.setup.sink = &slices;
        trainer.commands.push(asked);
        ended = trainer.run();
    }
    TinyTrainer trainer;
    SliceSink slices;
    TrainerOutcome ended;
};

RunConfig sliceConfig(const std::string& fusion, std::int64_t steps = 9) {
    const Registry registry(testing::plainCpu());
    RunConfig made = testing::tinyConfig(registry, steps);
    made.switches["fusion"] = fusion;
    return made;
}

class SlicesOf : public ::testing::TestWithParam<std::string> {};

TEST_P(SlicesOf, EveryStepThatWasAskedForIsThereWithItsPhases) {
    const Captured run(sliceConfig(GetParam()), {.steps = 3, .firstStep = 4});
    ASSERT_EQ(run.ended.state, RunState::Finished);
    std::vector<std::int64_t> steps;
    std::map<std::int64_t, std::set<std::string>> phases;
    for (const auto& one : run.slices.all()) {
        if (one.slice.kind == SliceKind::Step) steps.push_back(one.slice.step);
        if (one.slice.kind == SliceKind::Phase) phases[one.slice.step].insert(one.name);
        const bool within = one.slice.step >= 4 && one.slice.step <= 6;
        EXPECT_TRUE(within || !isOperation(one.slice.kind)) << one.name << " of step " << one.slice.step;
    }
    EXPECT_EQ(steps, (std::vector<std::int64_t>{4, 5, 6}));
    for (std::int64_t step = 4; step <= 6; ++step)
        for (const char* phase : {"batch", "forward", "backward", "clip", "optimizer"}) EXPECT_TRUE(phases[step].contains(phase)) << phase;
    EXPECT_EQ(run.slices.summary().totals().lost, 0);
    EXPECT_EQ(run.slices.summary().totals().invalid, 0);
}

// By operations and not by their time, which is whatever else the machine is doing: what has no place are the four that fill the gradient of the loss
// with ones, once a step. Of a step of any size that is less than a hundredth. Captured steps: GraphProgramTest.
void expectBackwardToHavePlaces(const SliceSink& slices, int steps) {
    std::map<std::string, int> without;
    for (const auto& one : slices.all())
        if (one.phase == "backward" && isOperation(one.slice.kind) && one.slice.layer < 0 && one.role.empty()) ++without[one.name];
    const std::set<std::string> ones{"aten::ones_like", "aten::empty_like", "aten::empty", "aten::empty_strided", "aten::fill_"};
    for (const auto& [name, count] : without) {
        EXPECT_TRUE(ones.contains(name)) << name << " has no place";
        EXPECT_LE(count, steps) << name << ", once a step";
    }
}

TEST_P(SlicesOf, EverythingOfTheBackwardPassButTheGradientOfTheLossItselfHasAPlaceInTheModel) {
    const Captured run(sliceConfig(GetParam()), {.steps = 5, .firstStep = 3});
    const OperationSummary summary = run.slices.summary();
    ASSERT_GT(summary.totals().backward.ns, 0);
    EXPECT_GT(summary.totals().backwardPlaced.ns, 0);
    expectBackwardToHavePlaces(run.slices, 5);
    std::set<std::int32_t> layers;
    for (const auto& one : run.slices.all())
        if (one.phase == "backward") layers.insert(one.slice.layer);
    EXPECT_TRUE(layers.contains(0) && layers.contains(1)) << "of both blocks";
}

TEST_P(SlicesOf, SlicesOfAThreadNestAndTheirOwnTimesAddUp) {
    const Captured run(sliceConfig(GetParam()), {.steps = 2, .firstStep = 3});
    std::map<std::int64_t, std::vector<SliceSink::Shown>> ofThread;
    for (const auto& one : run.slices.all()) ofThread[one.thread].push_back(one);
    for (auto& [thread, all] : ofThread) {
        std::ranges::stable_sort(
            all, [](const auto& a, const auto& b) { return std::pair(a.slice.start, a.slice.depth) < std::pair(b.slice.start, b.slice.depth); });
        struct Around {
            std::int64_t end, inside;
            const SliceSink::Shown* slice;
        };
        std::vector<Around> around;
        const auto close = [&] {
            EXPECT_EQ(around.back().slice->slice.called, around.back().inside) << around.back().slice->name;
            around.pop_back();
        };
        for (const auto& one : all) {
            const auto& slice = one.slice;
            while (!around.empty() && around.back().end <= slice.start && static_cast<int>(around.size()) > slice.depth) close();
            ASSERT_EQ(static_cast<int>(around.size()), slice.depth) << one.name;
            if (!around.empty()) {
                EXPECT_LE(slice.start + slice.duration, around.back().end) << one.name << " in " << around.back().slice->name;
                around.back().inside += slice.duration;
            }
            around.push_back({slice.start + slice.duration, 0, &one});
        }
        while (!around.empty()) close();
    }
}

TEST_P(SlicesOf, OperationsAreThoseOfTheTable) {
    const Captured run(sliceConfig(GetParam()), {.steps = 2, .firstStep = 4});
    const auto captures = run.trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> ofTable, ofSlices;  // self time, total time
    for (const auto& row : *captures[0].rows) {
        ofTable[row.name].first += row.self.ns;
        ofTable[row.name].second += row.total.ns;
    }
    for (const auto& row : run.slices.summary().rows(SummaryBy::Operation, SummarySort::Self)) ofSlices[row.name] = {row.self.ns, row.total.ns};
    EXPECT_EQ(ofSlices, ofTable);
}

INSTANTIATE_TEST_SUITE_P(Programs, SlicesOf, ::testing::Values("off", "kernels", "step"), [](const auto& info) { return info.param; });

TEST(CaptureSlices, ABackwardFunctionHasNumberLayerAndRoleOfItsForwardOperation) {
    const Captured run(sliceConfig("off"), {.steps = 1, .firstStep = 3});
    std::map<std::int64_t, SliceSink::Shown> made;  // by sequence number: the last that began with it
    const auto all = run.slices.all();
    for (const auto& one : all)
        if (one.slice.kind == SliceKind::Operation && one.slice.sequence >= 0) {
            auto& last = made[one.slice.sequence];
            if (last.slice.start <= one.slice.start) last = one;
        }
    std::size_t joined = 0, products = 0;
    for (const auto& one : all) {
        if (one.slice.kind != SliceKind::Backward || one.slice.forwardStart == 0) continue;
        ASSERT_TRUE(made.contains(one.slice.sequence)) << one.name;
        const auto& forward = made[one.slice.sequence];
        EXPECT_EQ(one.slice.forwardStart, forward.slice.start) << one.name << " of " << forward.name;
        EXPECT_EQ(one.slice.layer, forward.slice.layer);
        EXPECT_EQ(one.role, forward.role);
        EXPECT_EQ(one.phase, "backward");
        joined += 1;
        if (one.name == "AddmmBackward0" || one.name == "MmBackward0") {
            EXPECT_TRUE(forward.name == "aten::addmm" || forward.name == "aten::mm") << forward.name;
            products += 1;
        }
    }
    EXPECT_GT(joined, 40u);
    EXPECT_GE(products, 8u) << "four a block";
}

TEST(CaptureSlices, AFusedFunctionTakesTheNumberOfItsNode) {
    const Captured run(sliceConfig("kernels"), {.steps = 1, .firstStep = 3});
    std::map<std::int64_t, std::string> nodes;
    const auto all = run.slices.all();
    for (const auto& one : all)
        if (one.slice.kind == SliceKind::Backward && one.slice.sequence >= 0) nodes[one.slice.sequence] = one.name;
    std::set<std::string> joined;
    for (const auto& one : all)
        if (one.slice.kind == SliceKind::Own && one.slice.sequence >= 0 && one.phase == "forward") {
            ASSERT_TRUE(nodes.contains(one.slice.sequence)) << one.name;
            EXPECT_NE(nodes[one.slice.sequence].find("Function"), std::string::npos) << one.name << " and " << nodes[one.slice.sequence];
            joined.insert(one.name);
        }
    EXPECT_GE(joined.size(), 3u);
}

TEST(CaptureSlices, ABlockThatIsComputedAgainSaysSoAndKnowsItsLayer) {
    RunConfig config = sliceConfig("off");
    config.switches["checkpointing"] = std::string("every-block");
    const Captured run(config, {.steps = 1, .firstStep = 3});
    ASSERT_EQ(run.ended.state, RunState::Finished) << run.ended.error.sentence;
    std::set<std::int32_t> again;
    for (const auto& one : run.slices.all())
        if (one.slice.recomputed) {
            EXPECT_EQ(one.phase, "backward") << one.name;
            again.insert(one.slice.layer);
        }
    EXPECT_TRUE(again.contains(0) && again.contains(1));
    expectBackwardToHavePlaces(run.slices, 1);
}

TEST(CaptureSlices, MembersOfATeamHaveLanesOfTheirOwn) {
    RunConfig config = sliceConfig("step");
    config.threads = 2;
    const Captured run(config, {.steps = 2, .firstStep = 3});
    std::map<std::string, std::set<std::string>> names;
    for (const auto& block : run.slices.blocks)
        for (const auto& slice : block.slices)
            if (slice.kind == SliceKind::Own) names[block.thread.name].insert(block.strings[slice.name]);
    ASSERT_TRUE(names.contains("trainer"));
    ASSERT_TRUE(names.contains("worker 1"));
    EXPECT_TRUE(names["worker 1"].contains("attention backward"));
    // By these two a step's time is divided among its team: which lane is of it, and that it works in each of its steps.
    std::set<std::int64_t> worked;
    for (const auto& block : run.slices.blocks) {
        EXPECT_EQ(isTeamLane(block.thread), block.thread.name == "worker 1") << block.thread.name;
        if (!isTeamLane(block.thread)) continue;
        for (const auto& slice : block.slices) worked.insert(slice.step);
    }
    EXPECT_TRUE(worked.contains(3) && worked.contains(4));
}

TEST(CaptureSlices, AValidationBetweenCapturedStepsIsThereToo) {
    RunConfig config = sliceConfig("off");
    config.switches["validation-every"] = std::int64_t{4};
    const Captured run(config, {.steps = 3, .firstStep = 3});
    std::int64_t evaluations = 0, within = 0;
    for (const auto& one : run.slices.all()) {
        evaluations += one.slice.kind == SliceKind::Evaluation ? 1 : 0;
        within += isOperation(one.slice.kind) && one.phase == "evaluation" ? 1 : 0;
    }
    EXPECT_EQ(evaluations, 1);
    EXPECT_GT(within, 20);
}

TEST(CaptureSlices, KnowsWhatAnOperationWasCalledWithAndWhatItComputes) {
    const Captured run(sliceConfig("off"), {.steps = 1, .firstStep = 3});
    bool found = false;
    for (const auto& block : run.slices.blocks)
        for (const auto& slice : block.slices)
            if (block.strings[slice.name] == "aten::addmm" && block.strings[slice.role] == "mlp/up" && block.strings[slice.phase] == "forward") {
                // 4 sequences of 12 tokens, 16 wide, 64 within.
                EXPECT_EQ(block.arguments[slice.arguments].text, "Float[64] Float[48,16] Float[16,64] int int");
                EXPECT_EQ(block.arguments[slice.arguments].flops, 2 * 48 * 16 * 64);
                EXPECT_EQ(block.arguments[slice.arguments].bytes, 4 * (64 + 48 * 16 + 16 * 64 + 48 * 64));
                found = true;
            }
    EXPECT_TRUE(found);
}

// Floating-point operations of a step: of LibTorch's operations and of our own together.
std::int64_t flopsOfAStep(const std::string& fusion, std::int64_t threads) {
    RunConfig config = sliceConfig(fusion);
    config.switches["attention"] = std::string(fusion == "off" ? "sdpa-flash" : "auto");
    config.switches["amp"] = std::string("off");
    config.threads = threads;
    const Captured run(config, {.steps = 2, .firstStep = 3});
    EXPECT_EQ(run.ended.state, RunState::Finished) << run.ended.error.sentence;
    std::int64_t sum = 0;
    for (const auto& block : run.slices.blocks)
        for (const auto& slice : block.slices)
            if (isOperation(slice.kind) && slice.arguments < block.arguments.size()) sum += block.arguments[slice.arguments].flops;
    return sum / 2;
}

TEST(CaptureSlices, EachProgramSaysThatItComputesTheSame) {
    // 4 sequences of 12 tokens, 16 wide, two heads of 8, two blocks with 64 within, 61 ids; each linear is multiplied three times.
    const RunConfig config = sliceConfig("off");
    const std::int64_t rows = 48, blocks = config.layers * (4 * 16 * 16 + 2 * 16 * 64), head = 16 * 61;
    const std::int64_t attention = config.layers * 4 * 16 * (12 * 13 / 2) * 2 * (2 + 4);
    const std::int64_t expected = 6 * rows * (blocks + head) + attention;
    EXPECT_EQ(flopsOfAStep("off", 1), expected);
    EXPECT_EQ(flopsOfAStep("kernels", 1), expected);
    EXPECT_EQ(flopsOfAStep("step", 1), expected);
    EXPECT_EQ(flopsOfAStep("step", 2), expected) << "each worker counts its part";
}

TEST(CaptureSlices, StepsToWarmUpAreNotKept) {
    const Captured run(sliceConfig("off"), {.steps = 2, .firstStep = 6, .warmUp = 3});
    std::vector<std::int64_t> steps;
    for (const auto& one : run.slices.all())
        if (one.slice.kind == SliceKind::Step) steps.push_back(one.slice.step);
    EXPECT_EQ(steps, (std::vector<std::int64_t>{6, 7}));
    std::set<std::int64_t> disturbed;
    for (const auto& step : run.trainer.sink.all<StepDone>())
        if (step.disturbed) disturbed.insert(step.step);
    EXPECT_EQ(disturbed, (std::set<std::int64_t>{3, 4, 5, 6, 7})) << "they are slower all the same";
    EXPECT_TRUE(stepObservers.empty());
}

TEST(CaptureSlices, SaysWhatTheProcessorCountedOrWhyItDidNot) {
    const Captured run(sliceConfig("step"), {.steps = 2, .firstStep = 3, .warmUp = 1});
    ASSERT_EQ(run.slices.notes.size(), 1u) << "once a capture, and not of what was to warm up";
    EXPECT_TRUE(run.slices.notes[0].starts_with("Hardware counters")) << run.slices.notes[0];
}

TEST(CaptureSlices, TakesFewBytesEach) {
    const Captured run(sliceConfig("off", 40), {.steps = 30, .firstStep = 3});
    const auto slices = run.slices.summary().totals().slices;
    ASSERT_GT(slices, 4096);
    EXPECT_LT(static_cast<double>(run.slices.bytes) / static_cast<double>(slices), 30) << "before the recorder packs them";
}

}  // namespace
}  // namespace stepscope
