// Keeping the slowest steps: which ones stand out, at most how many are kept and with which neighbours, that what measures and what is asked for goes
// first, and what it says of its cost. The clock is the test's where it matters.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "TinyTraining.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/MemoryObserver.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"
#include "core/train/SlowestCapture.h"

namespace stepscope {
namespace {

using testing::CollectingSink;
using testing::TinyTrainer;

constexpr std::int64_t kUsual = 10'000'000;  // ns of a step

TEST(SlowSteps, NothingStandsOutBeforeTwoHundredStepsWereObserved) {
    SlowSteps slow;
    for (int i = 0; i < 25; ++i) {
        EXPECT_FALSE(slow.observes()) << i;
        EXPECT_FALSE(slow.add({kUsual}));
    }
    EXPECT_TRUE(slow.observes());
    for (int i = 0; i < 199; ++i) EXPECT_FALSE(slow.add({kUsual + i * 1000}));
    EXPECT_FALSE(slow.add({100 * kUsual})) << "the two hundredth";
    EXPECT_EQ(slow.threshold().ns, kUsual + 197 * 1000) << "the 198th of 200 in order";
    EXPECT_TRUE(slow.add({kUsual + 198 * 1000}));
    EXPECT_FALSE(slow.add({kUsual + 197 * 1000})) << "not beyond it";
}

TEST(SlowSteps, AnotherProgramBeginsAnew) {
    SlowSteps slow;
    for (int i = 0; i < 300; ++i) slow.add({kUsual});
    EXPECT_TRUE(slow.add({kUsual + 1}));
    slow.renew();
    EXPECT_FALSE(slow.observes());
    EXPECT_EQ(slow.threshold().ns, 0);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(slow.add({5 * kUsual}));
}

TEST(SlowSteps, CostIsWhatTheMedianStepTakesMoreThanBefore) {
    SlowSteps slow;
    for (int i = 0; i < 5; ++i) slow.add({50 * kUsual});  // they still prepare
    for (int i = 0; i < 20; ++i) slow.add({kUsual});
    EXPECT_TRUE(std::isnan(slow.cost()));
    for (int i = 0; i < 40; ++i) slow.add({kUsual + kUsual / 20});
    EXPECT_NEAR(slow.cost(), 0.05, 1e-9);
}

// Steps as a run makes them, each with one operation; times are made up.
struct PlayedSteps {
    CollectingSink sink;
    SessionClock clock;
    std::int64_t stored = 0, cap = 0;  // bytes; cap 0: as much as there is
    SlowestCapture slowest;
    explicit PlayedSteps(std::int64_t most = 0, std::size_t held = SlowestCapture::kMostBytes)
        : cap(most), slowest({.sink = &sink, .clock = &clock, .stored = [this] { return stored; }, .cap = cap}, held) {}
    std::int64_t step = 0, made = 0, at = 0;
    std::function<void()> beside;  // what a step does beside

    void play(std::int64_t took = kUsual, bool disturbed = false, bool watched = true) {
        ++step;
        slowest.before(step, watched ? made : -1);
        if (watched) ++made;
        {
            const StepRange range({.kind = RangeFacts::Kind::Step, .step = step});
            const OperationSpan span("work");
            if (beside) beside();
        }
        slowest.after(step, {at}, {at + took}, disturbed);
        at += took;
    }
    void settle() {
        for (int i = 0; i < 25 + 200; ++i) play();
    }
    std::vector<std::string> said() const {
        std::vector<std::string> all;
        for (const auto& line : sink.all<LogLine>()) all.push_back(line.text);
        return all;
    }
    std::set<std::int64_t> keptSteps() const {
        std::set<std::int64_t> all;
        for (const auto& chunk : sink.chunks()) {
            if (!isSlices(chunk->kind)) continue;
            const auto block = decodeSlices(*chunk);
            EXPECT_TRUE(block);
            if (!block) continue;
            for (const auto& slice : block->slices) all.insert(slice.step);
        }
        return all;
    }
};

TEST(SlowestCapture, HasTheMemoryOfEachKeptStepByItselfAndOfNoOther) {
    host_memory::install();
    host_memory::refreshBudget();
    PlayedSteps run;
    std::int64_t taken = 0;
    std::vector<at::Tensor> stays;
    run.beside = [&] {
        taken = 1'000'000 + run.step;
        stays = {at::empty({taken}, at::TensorOptions().dtype(at::kByte))};
    };
    run.settle();
    run.play(3 * kUsual);  // 226
    for (int i = 0; i < 10; ++i) run.play();
    run.slowest.finish(run.step);
    std::map<std::pair<std::int64_t, std::uint64_t>, std::int64_t> open;
    std::set<std::int64_t> sizes;
    for (const auto& chunk : run.sink.chunks()) {
        if (chunk->kind != kAllocations) continue;
        const auto block = decodeAllocations(*chunk);
        ASSERT_TRUE(block) << block.error().sentence;
        EXPECT_EQ(block->lost + block->invalid, 0);
        for (const Allocation& one : block->allocations) {
            open[{one.device, one.address}] += one.bytes;
            if (one.address != 0 && one.bytes > 1'000'000 && one.bytes < 1'001'000) sizes.insert(one.bytes - 1'000'000);
        }
    }
    EXPECT_EQ(sizes, (std::set<std::int64_t>{225, 226, 227}));
    for (const auto& [key, bytes] : open) EXPECT_EQ(bytes, 0) << "what a step holds is given back where it ends";
    EXPECT_TRUE(memoryObservers.empty());
}

TEST(SlowestCapture, CountsAsLostWhatAStepHasBeyondTheRoomForIt) {
    PlayedSteps run(0, 0);
    run.settle();
    run.play(3 * kUsual);  // 226
    run.play();
    run.slowest.finish(run.step);
    ASSERT_EQ(run.sink.all<CaptureDone>().size(), 1u);
    EXPECT_TRUE(run.keptSteps().empty());
    std::int64_t lost = 0;
    for (const auto& chunk : run.sink.chunks())
        if (isSlices(chunk->kind)) {
            const auto block = decodeSlices(*chunk);
            lost += block.value().lost;
        }
    EXPECT_EQ(lost, 6) << "of three steps the step itself and what it did";
}

TEST(SlowestCapture, KeepsAStepThatStandsOutWithItsNeighbours) {
    PlayedSteps run;
    run.settle();
    run.play();
    run.play(3 * kUsual);  // 227
    for (int i = 0; i < 10; ++i) run.play();
    EXPECT_TRUE(run.slowest.observing());
    run.slowest.finish(run.step);
    EXPECT_FALSE(run.slowest.observing());
    EXPECT_TRUE(stepObservers.empty());
    EXPECT_EQ(run.keptSteps(), (std::set<std::int64_t>{226, 227, 228}));
    const auto captures = run.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u);
    EXPECT_EQ(captures[0].firstStep, 226);
    EXPECT_EQ(captures[0].step, 228);
    EXPECT_EQ(captures[0].steps, 3);
    EXPECT_EQ(captures[0].duration.ns, 5 * kUsual);
    const auto said = run.said();
    ASSERT_EQ(said.size(), 3u);
    EXPECT_TRUE(said[0].starts_with("Every step is observed from step 26 on")) << said[0];
    EXPECT_TRUE(said[1].starts_with("Step 227 took 30.0\u202Fms, beyond the 99th percentile of steps with these switches (10.0\u202Fms)")) << said[1];
    EXPECT_TRUE(
        said[2].starts_with("212 steps were observed to keep the slowest; 1 stood out and 1 are kept. While observed, the median step took 0.0 % "
                            "more than the 20 before"))
        << said[2];
}

TEST(SlowestCapture, KeepsTheTwentySlowestAndNoMore) {
    PlayedSteps run;
    run.settle();
    for (int i = 0; i < 30; ++i) {
        run.play((100 + i) * kUsual);
        for (int k = 0; k < 40; ++k) run.play();
    }
    EXPECT_EQ(run.slowest.kept(), SlowestCapture::kMostKept);
    run.slowest.finish(run.step);
    const auto captures = run.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 20u);
    for (std::size_t i = 0; i < captures.size(); ++i)
        EXPECT_EQ(captures[i].firstStep, 225 + 41 * (static_cast<std::int64_t>(i) + 10)) << "the first ten were faster than these";
    EXPECT_TRUE(run.said().back().find("30 stood out and 20 are kept") != std::string::npos) << run.said().back();
}

TEST(SlowestCapture, HandsOnWhatFitsBelowTheCapTheSlowestFirstAndSaysWhatIsLeftOut) {
    std::int64_t all = 0;
    for (const bool capped : {false, true}) {
        PlayedSteps run(capped ? 1000 + all * 7 / 8 : 0);  // beside what is there room for three of the four
        run.stored = 1000;
        run.settle();
        for (int i = 0; i < 4; ++i) {
            run.play((100 + i) * kUsual);
            for (int k = 0; k < 10; ++k) run.play();
        }
        run.slowest.finish(run.step);
        const auto captures = run.sink.all<CaptureDone>();
        if (!capped) {
            for (const auto& chunk : run.sink.chunks())
                if (chunk->kind != kNote) all += static_cast<std::int64_t>(chunk->bytes.size());
            ASSERT_EQ(captures.size(), 4u);
            continue;
        }
        ASSERT_EQ(captures.size(), 3u);
        EXPECT_EQ(captures[0].firstStep, 225 + 11) << "the first was the fastest of them";
        const auto said = run.said();
        EXPECT_TRUE(std::ranges::any_of(said, [](const std::string& line) { return line.starts_with("1 of the slowest steps are left out"); }));
        EXPECT_TRUE(said.back().find("4 stood out and 3 are kept") != std::string::npos) << said.back();
    }
    PlayedSteps full(500);
    full.stored = 1000;
    full.settle();
    full.play(100 * kUsual);
    full.play();
    full.slowest.finish(full.step);
    EXPECT_TRUE(full.sink.chunks().empty());
    EXPECT_TRUE(full.sink.all<CaptureDone>().empty());
}

TEST(SlowestCapture, StepsThatSomethingElseDisturbedAreNoneOfThem) {
    PlayedSteps run;
    run.settle();
    run.play(9 * kUsual, true);
    run.play(9 * kUsual, false, false);  // two values take turns
    EXPECT_FALSE(run.slowest.observing());
    run.play();
    run.slowest.finish(run.step);
    EXPECT_TRUE(run.sink.all<CaptureDone>().empty());
    EXPECT_TRUE(run.sink.chunks().empty());
}

TEST(SlowestCapture, IsOffUntilItIsAskedForAndMarksWhatItObserves) {
    const Registry registry(testing::plainCpu());
    TinyTrainer trainer(testing::tinyConfig(registry, 60));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* step = std::get_if<StepDone>(&event);
        if (step != nullptr && step->step == 10) trainer.commands.push(Capture{.slowest = true});
        if (step != nullptr && step->step == 40) trainer.commands.push(Capture{.steps = 2});
        if (step != nullptr && step->step == 50) trainer.commands.push(Capture{.slowest = false});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::set<std::int64_t> marked;
    for (const auto& step : trainer.sink.all<StepDone>())
        if (step.disturbed) marked.insert(step.step);
    EXPECT_EQ(*marked.begin(), 36) << "asked for behind step 10; 25 steps are made before the first is observed";
    EXPECT_EQ(*marked.rbegin(), 50);
    EXPECT_EQ(marked.size(), 15u);
    const auto captures = trainer.sink.all<CaptureDone>();
    ASSERT_EQ(captures.size(), 1u) << "what a person asks for is captured all the same";
    EXPECT_EQ(captures[0].firstStep, 41);
    EXPECT_TRUE(stepObservers.empty());
    bool told = false;
    for (const auto& line : trainer.sink.all<LogLine>()) told = told || line.text.find("0 stood out and 0 are kept") != std::string::npos;
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace stepscope
