// Two Programs that take turns for real: what is timed, what is not, and what is said when one of them cannot go on. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <vector>

#include "TinyTraining.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/train/Comparison.h"
#include "tests/support/CoursePlayer.h"
#include "tests/support/PlayedPrograms.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

class ComparisonTest : public ::testing::Test {
protected:
    void SetUp() override {
        host_memory::install();  // before any tensor is made
        host_memory::refreshBudget();
        at::set_num_threads(1);
        // Blocks of a tiny model may be short: what is tested is who takes which turn.
        setup.rules.blockSeconds = 0.01;
        setup.rules.budgetSeconds = 3;
        setup.batches = testing::tinyBatches();
        setup.factory = &registry;
        setup.clock = &clock;
        setup.sink = &sink;
        setup.stop = &stop;
        sides({}, {});
    }
    using Settings = std::vector<std::pair<std::string, Value>>;
    void sides(const Settings& ofA, const Settings& ofB) {
        for (const bool second : {false, true}) {
            RunConfig config = testing::tinyConfig(registry, 1'000'000);
            for (const auto& [key, value] : second ? ofB : ofA) config.switches[key] = value;
            ComparedSide& side = setup.sides[second ? 1 : 0];
            side.config = registry.complete(config).value();
            side.plan = registry.plan(side.config, 61).value();
            side.start = std::make_shared<const TrainState>(TrainState::initialise(registry.modelShape(side.plan, 61), 1));
        }
    }
    ComparisonOutcome run() {
        const ComparisonOutcome outcome = Comparison(setup).run();
        for (const auto& block : sink.all<BlockDone>()) history.add(block);
        for (const auto& judged : sink.all<ExperimentJudged>()) history.add(judged);
        return outcome;
    }

    Registry registry{testing::plainCpu()};
    SessionClock clock;
    testing::CollectingSink sink;
    std::atomic<bool> stop{false};
    ComparisonSetup setup;
    ExperimentHistory history;
};

TEST_F(ComparisonTest, OfTwoIdenticalArmsHasEqualLossesAfterEqualSteps) {
    const ComparisonOutcome outcome = run();
    EXPECT_EQ(outcome.state, RunState::Finished) << outcome.error.sentence;
    const auto blocks = sink.all<BlockDone>();
    int compared = 0;
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i)
        if (blocks[i].pair >= 0 && blocks[i].pair == blocks[i + 1].pair) {
            EXPECT_EQ(blocks[i].step, blocks[i + 1].step);
            EXPECT_EQ(blocks[i].loss, blocks[i + 1].loss);
            EXPECT_NE(blocks[i].arm, blocks[i + 1].arm);
            ++compared;
        }
    EXPECT_GT(compared, 0);
    EXPECT_EQ(history.lossDifference(), 0);
    ASSERT_TRUE(history.newest());
    EXPECT_TRUE(history.newest()->over);
}

TEST_F(ComparisonTest, OfDifferentProgramsOverOneStartKeepsEachStateToItself) {
    setup.rules.budgetSeconds = 8;  // under the sanitizers beside other programs three are over before a pair is
    sides({{"fusion", std::string("off")}}, {{"fusion", std::string("kernels")}});
    EXPECT_EQ(run().state, RunState::Finished);
    EXPECT_LT(std::abs(history.lossDifference()), 1e-4) << history.whyNoLoss();
    EXPECT_EQ(setup.sides[0].start->updates, 0) << "what both start from is not trained";
    EXPECT_GT(history.facts(Arm::A).operations, history.facts(Arm::B).operations);
    EXPECT_GT(history.facts(Arm::A).tokensPerSecond, 0);
}

TEST_F(ComparisonTest, WithOneStateAtATimeOnTheDeviceTrainsBothAlike) {
    // Every step's loss, not only that of the last of each block: how long blocks are depends on how busy the machine is.
    const auto lossesOf = [&](bool swapped) {
        std::map<std::pair<Arm, std::int64_t>, double> losses;
        testing::CollectingSink own;
        setup.sink = &own;
        setup.swapStates = swapped;
        setup.afterStep = [&](Arm arm, std::int64_t update, const StepResult& result) { losses[{arm, update}] = result.loss; };
        sides({{"fusion", std::string("off")}}, {{"fusion", std::string("step")}});
        EXPECT_EQ(Comparison(setup).run().state, RunState::Finished);
        return losses;
    };
    const auto apart = lossesOf(false), swapped = lossesOf(true);
    std::map<Arm, int> compared;
    for (const auto& [key, loss] : swapped)
        if (const auto other = apart.find(key); other != apart.end()) {
            EXPECT_EQ(loss, other->second) << toString(key.first) << " update " << key.second;
            ++compared[key.first];
        }
    EXPECT_GT(compared[Arm::A], 6);
    EXPECT_GT(compared[Arm::B], 6);
}

TEST_F(ComparisonTest, FindsAnArmThatSpins) {
    setup.rules.budgetSeconds = 20;
    setup.afterStep = [](Arm arm, std::int64_t, const StepResult&) {
        if (arm == Arm::A) return;
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
        while (std::chrono::steady_clock::now() < until) {
        }
    };
    EXPECT_EQ(run().state, RunState::Finished);
    EXPECT_EQ(history.newest()->outcome, "slower") << history.newest()->why;
    EXPECT_LT(history.newest()->high, 1);
    EXPECT_GE(history.newest()->rebuilds, 6);
}

// Seconds, several steps of the tiny model: sanitizers make those ten times as long, and the records of a capture far dearer than they can be.
const double kSpin = underSanitizer() ? 0.08 : 0.006;

// Seconds that this thread has computed: a busy machine stretches a spin as it stretches steps.
double threadSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST_F(ComparisonTest, TellsWhyAnArmIsSlowerByTheClassOfWorkThatItSpinsIn) {
    setup.rules.budgetSeconds = 5;
    setup.whyWindows = 3;
    setup.afterStep = [](Arm arm, std::int64_t, const StepResult&) {
        if (arm == Arm::A) return;
        const PlaceScope place(Activity::Optimizer);
        const OperationSpan span("spin", Role::Optimizer);
        const double until = threadSeconds() + kSpin;
        while (threadSeconds() < until) {
        }
    };
    // What is unexplained is also what the machine did between the timing and the captures: where it was disturbed in between, it is asked again.
    WaterfallResult why;
    for (int attempt = 0; attempt < 4; ++attempt) {
        testing::CollectingSink own;
        ExperimentHistory heard;
        setup.sink = &own;
        EXPECT_EQ(Comparison(setup).run().state, RunState::Finished);
        for (const auto& block : own.all<BlockDone>()) heard.add(block);
        for (const auto& judged : own.all<ExperimentJudged>()) heard.add(judged);
        ASSERT_FALSE(own.chunks().empty());
        for (const auto& chunk : own.chunks())
            if (isSlices(chunk->kind)) heard.add(decodeSlices(*chunk).value());
        why = heard.why();
        ASSERT_EQ(why.classes.size(), static_cast<std::size_t>(kWorkClasses) - 1) << "a CPU has no gaps between launches";
        if (why.unexplainedShare() <= 0.1 && why.open < 0.5 * std::abs(why.difference())) break;
    }
    EXPECT_LE(why.unexplainedShare(), 0.1);
    EXPECT_LT(why.open, 0.5 * std::abs(why.difference())) << "captures that leave half of it open explain nothing";
    EXPECT_FALSE(why.outcome.empty()) << "what the pairs said goes with the reasons";
    EXPECT_GE(why.stepsA, 6);
    EXPECT_GE(why.stepsB, 6);
    const ClassDifference& optimizer = why.classes[static_cast<std::size_t>(WorkClass::Optimizer)];
    EXPECT_GT(optimizer.difference(), 0.7 * why.difference()) << why.difference() << " ms between them";
    EXPECT_GT(optimizer.low, 0);
    for (const auto& one : why.classes) EXPECT_LE(one.difference(), optimizer.difference()) << toString(one.kind);
    EXPECT_THAT(waterfallSentence(why), ::testing::HasSubstr("more in optimizer step"));
    ASSERT_FALSE(why.places.empty());
    EXPECT_EQ(why.places.front().role, "optimizer");
}

// Says how many Programs were built.
struct CountingFactory final : ProgramFactory {
    explicit CountingFactory(const ProgramFactory& other) : of(other) {}
    Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const override {
        return of.flipped(config, id, value);
    }
    Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary) const override { return of.plan(config, vocabulary); }
    StateForm formOf(const RunPlan& plan, const TrainState& state) const override { return of.formOf(plan, state); }
    std::unique_ptr<StepProgram> build(const RunPlan& plan) const override {
        ++built;
        return of.build(plan);
    }
    const ProgramFactory& of;
    mutable int built = 0;
};

TEST_F(ComparisonTest, MakesThatSideFirstWhichTheCoinNames) {
    const testing::Interference none;
    const testing::PlayedFactory factory(registry, none);
    setup.factory = &factory;
    setup.rules.rebuildShare = 0.99;  // making both anew is all but free: every other pair
    sides({{"fusion", std::string("off")}}, {{"fusion", std::string("kernels")}});
    EXPECT_EQ(run().state, RunState::Finished);
    std::vector<std::string> named;
    for (const Arm arm : buildOrder(setup.rules.seed, factory.built().size() / 2)) named.push_back(arm == Arm::A ? "off" : "kernels");
    EXPECT_EQ(factory.built(), named);
    ASSERT_GE(named.size(), 6u);
    int turned = 0;
    for (std::size_t i = 0; i < named.size(); i += 2) turned += named[i] == "kernels";
    EXPECT_GT(turned, 0);
    EXPECT_LT(turned, static_cast<int>(named.size() / 2));
}

TEST_F(ComparisonTest, NumbersCapturedStepsApartWhereBothArmsAreMadeAnewBetweenThem) {
    const CountingFactory counting(registry);
    setup.factory = &counting;
    setup.rules.budgetSeconds = 2;
    setup.rules.rebuildShare = 0.99;  // making both anew is all but free: before each window
    setup.whyWindows = 6;
    setup.whySeconds = 60;
    EXPECT_EQ(run().state, RunState::Finished);
    std::array<std::vector<std::int64_t>, 2> numbers;
    for (const auto& chunk : sink.chunks()) {
        if (!isSlices(chunk->kind)) continue;
        const SliceBlock block = decodeSlices(*chunk).value();
        for (const Slice& slice : block.slices)
            if (slice.kind == SliceKind::Step) numbers[block.thread.rank == 0 ? 0 : 1].push_back(slice.step);
    }
    std::int64_t timed = 0;  // instances of the pairs
    for (const auto& block : sink.all<BlockDone>()) timed = std::max(timed, block.rebuild + 1);
    EXPECT_GT(counting.built, 2 * (timed + 1)) << "both arms once more for the captures, and again between them";
    for (auto& of : numbers) {
        EXPECT_GE(of.size(), 12U) << "six windows of at least two steps";
        std::ranges::sort(of);
        EXPECT_EQ(std::ranges::adjacent_find(of), of.end()) << "two captured steps of one arm have one number";
    }
}

TEST_F(ComparisonTest, ShowsByKindWhatEachArmHoldsAtItsHighestPoint) {
    setup.rules.budgetSeconds = 1;
    setup.rules.equalSeconds = true;
    setup.whyWindows = 1;
    sides({{"fusion", std::string("off")}, {"batch-size", std::int64_t{2}}}, {{"fusion", std::string("off")}, {"batch-size", std::int64_t{64}}});
    EXPECT_EQ(run().state, RunState::Finished);
    for (const auto& chunk : sink.chunks())
        if (chunk->kind == kAllocations) history.add(decodeAllocations(*chunk).value());
    std::array<std::map<std::string, std::int64_t>, 2> kinds;
    for (const Arm arm : {Arm::A, Arm::B})
        for (const MemoryOwner& one : history.memoryAtPeak(arm)) kinds[arm == Arm::A ? 0 : 1][one.kind] = one.bytes;
    EXPECT_GT(kinds[0]["weights"], 0);
    EXPECT_EQ(kinds[0]["weights"], kinds[1]["weights"]) << "each its own, and not the other's as well";
    EXPECT_EQ(kinds[0]["moments"], 2 * kinds[0]["weights"]);
    EXPECT_GT(kinds[1]["MLP"], 4 * kinds[0]["MLP"]) << "of 64 sequences, not of two";
    for (const auto& of : kinds) EXPECT_FALSE(of.contains("taken before the capture"));
}

TEST_F(ComparisonTest, AfterTheVerdictTrainsBothForEquallyLongWhereThatIsAsked) {
    setup.rules.budgetSeconds = 1;
    setup.lossSeconds = 0.3;
    setup.lossSeeds = 2;
    EXPECT_EQ(run().state, RunState::Finished);
    EXPECT_EQ(history.newest()->equalTime.seeds, 2);
    EXPECT_TRUE(std::isfinite(history.newest()->equalTime.difference));
    EXPECT_THAT(history.newest()->why, ::testing::HasSubstr("of training each, with 2 seeds"));
}

TEST_F(ComparisonTest, TellsTheVerdictBeforeItLooksForReasonsAndLossesAndOnceMoreWithThem) {
    setup.rules.budgetSeconds = 1;
    setup.whyWindows = 1;
    setup.lossSeconds = 0.3;
    setup.lossSeeds = 2;
    std::size_t toldBefore = 0;
    sink.onEvent = [&, over = std::size_t{0}](const Event& event) mutable {
        if (const auto* judged = std::get_if<ExperimentJudged>(&event)) over += judged->over ? 1 : 0;
        if (const auto* said = std::get_if<Preparing>(&event); said && said->what == kLookingWhy) toldBefore = over;
    };
    EXPECT_EQ(run().state, RunState::Finished);
    EXPECT_EQ(toldBefore, 1U) << "who kills it while it captures has the verdict";
    std::vector<ExperimentJudged> over;
    for (const auto& judged : sink.all<ExperimentJudged>())
        if (judged.over) over.push_back(judged);
    ASSERT_EQ(over.size(), 2U);
    EXPECT_EQ(over[0].outcome, over[1].outcome);
    EXPECT_EQ(over[0].ratio, over[1].ratio);
    EXPECT_EQ(over[0].pairs, over[1].pairs);
    EXPECT_EQ(over[0].equalTime.seconds, 0) << "not known yet, and not missing either";
    EXPECT_THAT(over[0].why, ::testing::Not(::testing::HasSubstr("Loss at equal time")));
    EXPECT_EQ(over[1].equalTime.seconds, 0.3);
    EXPECT_GT(over[1].seconds, over[0].seconds + 1) << "what came behind it took time: both sides trained 0.3 s with each of two seeds";
    EXPECT_LT(history.measuringSeconds(), over[1].seconds - 1);
}

TEST_F(ComparisonTest, WithNothingBehindItTellsTheVerdictOnce) {
    setup.rules.budgetSeconds = 1;
    EXPECT_EQ(run().state, RunState::Finished);
    std::int64_t over = 0;
    for (const auto& judged : sink.all<ExperimentJudged>()) over += judged.over ? 1 : 0;
    EXPECT_EQ(over, 1);
}

TEST_F(ComparisonTest, CapturesEndWithTheTimeOfTheExperimentHoweverManyAreWanted) {
    setup.rules.budgetSeconds = 1;
    setup.whySeconds = 1;
    setup.whyWindows = 1000;  // of 0.3 s at least for each side: ten minutes
    EXPECT_EQ(run().state, RunState::Finished);
    EXPECT_FALSE(sink.chunks().empty()) << "one window there is in any case";
    EXPECT_LT(history.newest()->seconds, 60);
}

TEST_F(ComparisonTest, AVerdictStandsWhereCapturesBehindItFail) {
    setup.rules.budgetSeconds = 1;
    setup.whyWindows = 2;
    bool over = false;
    std::string warned;
    sink.onEvent = [&](const Event& event) {
        if (const auto* said = std::get_if<Preparing>(&event)) over = over || said->what == kLookingWhy;
        if (const auto* line = std::get_if<LogLine>(&event); line && line->level == LogLevel::Warning) warned = line->text;
    };
    setup.afterStep = [&](Arm, std::int64_t, const StepResult&) {
        if (over) throw std::runtime_error("the disk of captures is gone");
    };
    EXPECT_EQ(run().state, RunState::Finished);
    ASSERT_TRUE(history.newest());
    EXPECT_TRUE(history.newest()->over);
    EXPECT_THAT(warned, ::testing::HasSubstr("Nothing was captured that would say why"));
}

TEST_F(ComparisonTest, StoppedByAPersonKeepsWhatIsKnown) {
    setup.rules.budgetSeconds = 600;
    sink.onEvent = [&](const Event& event) {
        if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->pair == 2) stop = true;
    };
    EXPECT_EQ(run().state, RunState::Stopped);
    ASSERT_TRUE(history.newest());
    EXPECT_TRUE(history.newest()->over);
    EXPECT_EQ(history.newest()->pairs + history.newest()->left, 3) << "beside other programs a pair may be left out";
    EXPECT_THAT(history.newest()->why, ::testing::HasSubstr("stopped"));
}

TEST_F(ComparisonTest, ASideThatDivergesIsNamedAndThePairsBeforeAreJudged) {
    sides({}, {{"grad-clip", 0.0}});
    setup.sides[1].config.lr = 1e30;
    setup.sides[1].config.schedule = "constant";
    const ComparisonOutcome outcome = run();
    EXPECT_EQ(outcome.state, RunState::Failed);
    EXPECT_EQ(outcome.error.code, ErrorCode::Training);
    EXPECT_THAT(outcome.error.sentence, ::testing::ContainsRegex("lr=1[^ ]*( .*)? diverged: its loss")) << "by what makes it this side";
    ASSERT_TRUE(history.newest());
    EXPECT_TRUE(history.newest()->over);
    EXPECT_EQ(history.newest()->outcome, "inconclusive");
    EXPECT_THAT(history.newest()->why, ::testing::StartsWith(outcome.error.sentence)) << "what is stored says so too";
    EXPECT_THAT(history.newest()->why, ::testing::Not(::testing::HasSubstr("stopped")));
}

TEST_F(ComparisonTest, ASideThatRunsOutOfMemoryIsNamedAndThePairsBeforeAreJudged) {
    setup.rules.budgetSeconds = 600;
    std::int64_t pairs = 0;
    sink.onEvent = [&](const Event& event) {
        if (const auto* judged = std::get_if<ExperimentJudged>(&event)) pairs = judged->pairs;
    };
    // As an allocator refuses, in the middle of a step.
    setup.afterStep = [&](Arm arm, std::int64_t, const StepResult&) {
        if (arm == Arm::B && pairs >= 2) throw std::bad_alloc();
    };
    const ComparisonOutcome outcome = run();
    EXPECT_EQ(outcome.state, RunState::Failed);
    EXPECT_EQ(outcome.error.code, ErrorCode::OutOfMemory);
    EXPECT_THAT(outcome.error.sentence, ::testing::StartsWith("B cannot go on: "));
    ASSERT_TRUE(history.newest());
    EXPECT_TRUE(history.newest()->over);
    EXPECT_EQ(history.newest()->pairs, 2);
    EXPECT_THAT(history.newest()->why, ::testing::StartsWith(outcome.error.sentence));
}

TEST_F(ComparisonTest, UpdatesThatFp16LeavesOutCountInTimeAndNotInTokens) {
    testing::Interference interference;
    interference.step["kernels"] = testing::everySecondLeftOut();
    const testing::PlayedFactory factory(registry, interference);
    setup.factory = &factory;
    sides({{"fusion", std::string("off")}}, {{"fusion", std::string("kernels")}});
    setup.rules.blockSteps = 8;
    EXPECT_EQ(run().state, RunState::Finished);
    for (const BlockDone& block : sink.all<BlockDone>()) {
        const std::int64_t whole = block.steps * 4 * 12;
        if (block.arm == Arm::A)
            EXPECT_EQ(block.tokens, whole);
        else
            EXPECT_NEAR(static_cast<double>(block.tokens), static_cast<double>(whole) / 2, 4 * 12);
    }
}

TEST_F(ComparisonTest, ComparesTimePerTokenWhereBatchesDiffer) {
    sides({{"batch-size", std::int64_t{2}}}, {{"batch-size", std::int64_t{8}}});
    setup.rules.equalSeconds = true;
    EXPECT_EQ(run().state, RunState::Finished);
    const auto a = history.facts(Arm::A), b = history.facts(Arm::B);
    EXPECT_EQ(a.tokens, a.steps * 2 * 12);
    EXPECT_EQ(b.tokens, b.steps * 8 * 12);
    EXPECT_GT(history.newest()->ratio, 1) << "a larger batch costs less per token here";
}

TEST_F(ComparisonTest, CountsOfEachArmTheMemoryThatItTakesAlone) {
    sides({{"batch-size", std::int64_t{2}}}, {{"batch-size", std::int64_t{64}}});
    setup.rules.equalSeconds = true;
    EXPECT_EQ(run().state, RunState::Finished);
    const double a = history.facts(Arm::A).peakBytes, b = history.facts(Arm::B).peakBytes;
    ASSERT_TRUE(std::isfinite(a) && std::isfinite(b)) << "the allocator that counts is installed";
    EXPECT_GT(b, a);
}

}  // namespace
}  // namespace stepscope
