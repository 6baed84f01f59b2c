// Two values of a switch that take turns while a run trains on: every step counts, the losses are those of the same flips made by hand, and the run
// ends on the value that was found faster, or on its own. CTest.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/state/Checkpoint.h"
#include "core/train/InRunExperiment.h"
#include "tests/support/CoursePlayer.h"
#include "tests/support/PlayedPrograms.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct InRun : ::testing::Test {
    void SetUp() override { at::set_num_threads(1); }

    RunConfig config(std::int64_t steps = 1'000'000) {
        RunConfig made = testing::tinyConfig(registry, steps);
        made.switches["fusion"] = std::string("off");
        return registry.complete(made).value();
    }
    // Asks at step `at`, and stops the run when the answer is there.
    void runMeasuring(testing::TinyTrainer& trainer, Measure asked, std::int64_t at = 3, std::function<void(const Event&)> also = {}) {
        trainer.sink.onEvent = [&trainer, asked, at, also](const Event& event) {
            if (also) also(event);
            if (const auto* done = std::get_if<StepDone>(&event); done && done->step == at) trainer.commands.push(asked);
            if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->over) trainer.commands.push(Stop{});
            if (std::holds_alternative<SwitchRefused>(event)) trainer.commands.push(Stop{});
        };
        EXPECT_NE(trainer.run().state, RunState::Failed);
    }

    Registry registry{testing::plainCpu()};
};

// fusion=kernels beside `fusion` for 60 s over a State of its own, or that value beside itself. Played are the machine's counters, of which each look
// finds a tenth of a second more that a host gave away.
struct Turns {
    explicit Turns(InRun& test, const char* fusion = "off", bool besideItself = false)
        : trainer(test.config()), made(configOf(test, fusion)), plan(test.registry.plan(made, 61).value()), state(testing::freshState()) {
        static_cast<void>(testing::programOver(state, test.registry, made));  // in the form that it needs
        auto setup = inRunSetup({.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 60},
                                {.config = &made,
                                 .plan = &plan,
                                 .state = &state,
                                 .batches = testing::tinyBatches().get(),
                                 .factory = &test.registry,
                                 .clock = &trainer.clock,
                                 .sink = &trainer.sink,
                                 .fits = [](const RunPlan&, const RunPlan&) { return Status(); },
                                 .questionOf = {}});
        if (besideItself) {
            setup.value().configs[1] = setup.value().configs[0];
            setup.value().plans[1] = setup.value().plans[0];
            setup.value().to = setup.value().from;
        }
        setup.value().processors = [times = ProcessorTimes{}]() mutable {
            times.busyNs += 700'000'000;
            times.idleNs += 200'000'000;
            times.stealNs += 100'000'000;
            return std::optional(times);
        };
        experiment.emplace(std::move(setup.value()), 0);
    }
    static RunConfig configOf(InRun& test, const char* fusion) {
        RunConfig config = test.config();
        config.switches["fusion"] = std::string(fusion);
        return test.registry.complete(config).value();
    }
    // Steps of 0.2 s that are none.
    void play(std::size_t pairs) {
        while (trainer.sink.all<ExperimentJudged>().size() < pairs && experiment->next(state) != nullptr)
            experiment->done(state, TimeNs{200'000'000}, 48, 3);
    }

    testing::TinyTrainer trainer;
    RunConfig made;
    RunPlan plan;
    TrainState state;
    std::optional<InRunExperiment> experiment;
};

TEST_F(InRun, TakesTurnsWithoutAMarkerAndEveryStepTrains) {
    testing::TinyTrainer trainer(config());
    runMeasuring(trainer, {.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 8});
    const auto began = trainer.sink.all<ExperimentBegan>();
    ASSERT_EQ(began.size(), 1u);
    EXPECT_EQ(began[0].step, 3);
    const auto blocks = trainer.sink.all<BlockDone>();
    ASSERT_GE(blocks.size(), 4u);
    std::array<double, 2> operations{};
    for (const BlockDone& block : blocks) operations[block.arm == Arm::A ? 0 : 1] = block.operations;
    EXPECT_GT(operations[0], operations[1]) << "each operation alone beside those of one kernel each";
    EXPECT_GT(operations[1], 0);
    const auto steps = trainer.sink.all<StepDone>();
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
    EXPECT_TRUE(steps[5].disturbed);
    EXPECT_LT(steps.back().loss, steps.front().loss);
    const auto judged = trainer.sink.all<ExperimentJudged>();
    EXPECT_TRUE(judged.back().over);
    EXPECT_LE(trainer.sink.all<SwitchApplied>().size(), 1u) << "one marker at most: that of the value that stays";
}

TEST_F(InRun, HasTheLossesOfTheSameFlipsMadeByHand) {
    testing::TinyTrainer measured(config());
    runMeasuring(measured, {.id = "fusion", .value = std::string("step"), .budgetSeconds = 6});
    const auto steps = measured.sink.all<StepDone>();
    // Which Program made which step: blocks follow each other without a gap, and warm-ups belong to their block.
    std::vector<std::string> fusion(steps.size() + 2, "off");
    std::int64_t from = 4;
    for (const auto& block : measured.sink.all<BlockDone>()) {
        for (std::int64_t step = from; step <= block.step; ++step) fusion[static_cast<std::size_t>(step)] = block.arm == Arm::A ? "off" : "step";
        from = block.step + 1;
    }
    const std::int64_t last = from - 1;
    testing::TinyTrainer byHand(config(last));
    byHand.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event)) byHand.commands.push(Flip{"fusion", fusion[static_cast<std::size_t>(done->step) + 1]});
    };
    EXPECT_EQ(byHand.run().state, RunState::Finished);
    const auto again = byHand.sink.losses();
    ASSERT_EQ(again.size(), static_cast<std::size_t>(last));
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i], steps[i].loss) << "step " << i + 1;
}

TEST_F(InRun, EndsOnTheValueThatWasFoundFasterAndSaysSo) {
    RunConfig made = config();
    made.switches["batch-creation"] = std::string("vectorised");
    testing::TinyTrainer trainer(registry.complete(made).value());
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("stepscope-in-run-{}", ::getpid());
    const auto asked = [&, reseeded = false](const Event& event) mutable {
        if (std::holds_alternative<BlockDone>(event) && !std::exchange(reseeded, true)) trainer.commands.push(Reseed{77});
        if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->over)
            trainer.commands.push(SaveCheckpoint{folder.string()});
    };
    runMeasuring(trainer, {.id = "fusion", .value = std::string("step"), .budgetSeconds = 60}, 3, asked);
    const auto judged = trainer.sink.all<ExperimentJudged>().back();
    const auto applied = trainer.sink.all<SwitchApplied>();
    if (judged.outcome == "faster") {
        ASSERT_EQ(applied.size(), 1u);
        EXPECT_EQ(applied[0].to, Value{std::string("step")});
    } else {
        EXPECT_TRUE(applied.empty()) << judged.outcome;
    }
    const auto kept = readCheckpointMeta(folder.string());
    ASSERT_TRUE(kept.ok()) << kept.error().sentence;
    EXPECT_EQ(kept->config.seed, 77) << "it was given while both took turns";
    std::filesystem::remove_all(folder);
    // A sanitizer slows our own code down alone, and LibTorch's is the faster one then.
    if (!underSanitizer()) {
        EXPECT_EQ(judged.outcome, "faster") << judged.why;
    }
}

TEST_F(InRun, MakesThatValueFirstWhichTheCoinNames) {
    const testing::Interference none;
    const testing::PlayedFactory factory(registry, none);
    testing::TinyTrainer trainer(config());
    trainer.setup.factory = &factory;
    runMeasuring(trainer, {.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 8});
    const auto blocks = trainer.sink.all<BlockDone>();
    ASSERT_FALSE(blocks.empty());
    const auto made = static_cast<std::size_t>(blocks.back().rebuild) + 1;
    std::vector<std::string> named{"off"};  // what the run began with
    for (const Arm arm : buildOrder(trainer.sink.all<ExperimentBegan>().front().seed, made)) named.push_back(arm == Arm::A ? "off" : "kernels");
    ASSERT_GE(factory.built().size(), named.size());
    EXPECT_GT(made, 2u);
    EXPECT_EQ(std::vector<std::string>(factory.built().begin(), factory.built().begin() + static_cast<std::ptrdiff_t>(named.size())), named);
}

// However fast the machine is: the run goes on until a block is made, and twenty steps beyond the answer.
TEST_F(InRun, StoppedByAPersonKeepsTheOldValueAndWhatIsKnown) {
    testing::TinyTrainer trainer(config());
    bool asked = false;
    trainer.sink.onEvent = [&, endAt = std::int64_t{0}](const Event& event) mutable {
        if (const auto* judged = std::get_if<ExperimentJudged>(&event); judged && judged->over) endAt = judged->step + 20;
        if (const auto* done = std::get_if<StepDone>(&event); done && endAt > 0 && done->step == endAt) trainer.commands.push(Stop{});
        if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2)
            trainer.commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
        if (std::holds_alternative<BlockDone>(event) && !std::exchange(asked, true)) trainer.commands.push(StopMeasuring{});
    };
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    const auto judged = trainer.sink.all<ExperimentJudged>();
    ASSERT_EQ(judged.size(), 1u);
    EXPECT_TRUE(judged[0].over);
    EXPECT_EQ(judged[0].outcome, "inconclusive");
    EXPECT_THAT(judged[0].why, StartsWith("It was stopped after 0 pairs"));
    EXPECT_TRUE(trainer.sink.all<SwitchApplied>().empty());
    EXPECT_EQ(trainer.sink.all<StepDone>().back().step, judged[0].step + 20);
    EXPECT_FALSE(trainer.sink.all<StepDone>().back().disturbed);
}

TEST_F(InRun, AFlipEndsItFirst) {
    testing::TinyTrainer trainer(config());
    bool asked = false;
    trainer.sink.onEvent = [&](const Event& event) {
        if (std::holds_alternative<SwitchApplied>(event)) trainer.commands.push(Stop{});
        if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2)
            trainer.commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
        if (std::holds_alternative<BlockDone>(event) && !std::exchange(asked, true)) trainer.commands.push(Flip{"zero-grad", std::string("zero")});
    };
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    EXPECT_TRUE(trainer.sink.all<ExperimentJudged>().back().over);
    EXPECT_THAT(trainer.sink.all<ExperimentJudged>().back().why, StartsWith("A setting of the run was changed after 0 pairs"));
    ASSERT_EQ(trainer.sink.all<SwitchApplied>().size(), 1u);
    EXPECT_EQ(trainer.sink.all<SwitchApplied>()[0].id, "zero-grad");
}

TEST_F(InRun, ARunThatEndsMeanwhileJudgesWhatThereIs) {
    testing::TinyTrainer trainer(config(40));
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2)
            trainer.commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_FALSE(trainer.sink.all<ExperimentJudged>().empty());
    EXPECT_TRUE(trainer.sink.all<ExperimentJudged>().back().over);
    EXPECT_THAT(trainer.sink.all<ExperimentJudged>().back().why, StartsWith("The run ended after "));
    EXPECT_EQ(trainer.sink.all<StepDone>().size(), 40u);
}

TEST_F(InRun, OfARunThatIsStoppedMeanwhileItSaysThatTheRunWas) {
    testing::TinyTrainer trainer(config());
    trainer.sink.onEvent = [&](const Event& event) {
        if (const auto* done = std::get_if<StepDone>(&event); done && done->step == 2)
            trainer.commands.push(Measure{.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 600});
        if (std::holds_alternative<BlockDone>(event)) trainer.commands.push(Stop{});
    };
    EXPECT_EQ(trainer.run().state, RunState::Stopped);
    ASSERT_FALSE(trainer.sink.all<ExperimentJudged>().empty());
    EXPECT_THAT(trainer.sink.all<ExperimentJudged>().back().why, StartsWith("The run was stopped after 0 pairs"));
}

// The clock goes on between two steps, as where the run does something else meanwhile.
TEST_F(InRun, WhoseTimeIsSpentWithoutADecisionSaysThatAndNotThatItWasStopped) {
    const auto spentAfter = [&](std::size_t pairs, bool interrupted) {
        Turns turns(*this);
        turns.play(pairs);
        if (interrupted) turns.experiment->interrupted();
        turns.trainer.clock.set(turns.trainer.clock.now() + TimeNs::fromSeconds(100));
        EXPECT_EQ(turns.experiment->next(turns.state), nullptr);
        return turns.trainer.sink.all<ExperimentJudged>().back();
    };
    const ExperimentJudged few = spentAfter(3, false);
    EXPECT_TRUE(few.over);
    EXPECT_EQ(few.pairs, 3);
    EXPECT_THAT(few.why, StartsWith("The budget was spent after 3 pairs"));
    const ExperimentJudged slow = spentAfter(0, false), disturbed = spentAfter(0, true);
    EXPECT_THAT(slow.why, StartsWith("The budget was spent before a pair was made"));
    EXPECT_THAT(disturbed.why, StartsWith("The run does something else after nearly every step"));
    for (const ExperimentJudged& judged : {few, slow, disturbed}) EXPECT_THAT(judged.why, Not(HasSubstr("was stopped")));
}

// What a Program must make anew once the other one has stepped is made at the turn: no step that is timed pays for it. Their times are played equal.
TEST_F(InRun, TwoEqualProgramsInTurnOverOneStateDoNotDifferAndHaveTheLossesOfOneAlone) {
    Turns turns(*this, "step", true);
    const auto batches = testing::tinyBatches();
    TrainState alone = turns.state.clone();
    const auto one = testing::programOver(alone, registry, turns.made);
    std::int64_t steps = 0;
    while (StepProgram* turn = turns.experiment->next(turns.state)) {
        const std::int64_t copies = turn->report().weightCopies;
        const StepResult made = turn->step(turns.state, *batches, 1e-3);
        ASSERT_EQ(turn->report().weightCopies, copies) << "step " << steps;
        ASSERT_EQ(made.loss, one->step(alone, *batches, 1e-3).loss) << "step " << ++steps;
        turns.experiment->done(turns.state, TimeNs{100'000'000}, made.tokens, made.loss);
    }
    const ExperimentJudged judged = turns.trainer.sink.all<ExperimentJudged>().back();
    EXPECT_EQ(judged.outcome, "equivalent") << judged.why;
    EXPECT_EQ(judged.ratio, 1);
    EXPECT_GE(judged.rebuilds, 6);
    std::array<double, 2> operations{};
    for (const BlockDone& block : turns.trainer.sink.all<BlockDone>()) operations[armPlace(block.arm)] = block.operations;
    EXPECT_EQ(operations[0], operations[1]);
}

TEST_F(InRun, RefusesWhatWouldConvertTheStateOrMoveTheLossUnasked) {
    const auto refusal = [&](const Measure& asked) {
        testing::TinyTrainer trainer(config());
        runMeasuring(trainer, asked);
        const auto refused = trainer.sink.all<SwitchRefused>();
        EXPECT_EQ(refused.size(), 1u);
        EXPECT_TRUE(trainer.sink.all<ExperimentBegan>().empty());
        // The line of the log says by its subject, not by its words, what it is about.
        const auto lines = trainer.sink.all<LogLine>();
        const bool told = std::ranges::any_of(lines, [&](const LogLine& line) {
            return !refused.empty() && line.code == refused[0].code && line.subject == refused[0].subject &&
                   line.text == asked.id + " stays as it is: " + refused[0].why;
        });
        EXPECT_TRUE(told);
        return refused.empty() ? std::string() : refused[0].why;
    };
    EXPECT_THAT(refusal({.id = "optimizer", .value = std::string("8-bit"), .lossMayMove = true}), HasSubstr("another form"));
    EXPECT_THAT(refusal({.id = "amp", .value = std::string("bf16")}), HasSubstr("other arithmetic"));
    EXPECT_THAT(refusal({.id = "batch-size", .value = std::int64_t{2}}), HasSubstr("other arithmetic"));
    EXPECT_THAT(refusal({.id = "fusion", .value = std::string("off")}), HasSubstr("already"));
    EXPECT_FALSE(refusal({.id = "fusion", .value = std::string("everything")}).empty());
    EXPECT_FALSE(refusal({.id = "no-such-switch", .value = std::string("on")}).empty());
}

TEST_F(InRun, SaysWhatTheHostTookMeanwhileWhereThatLeavesItOpen) {
    Turns turns(*this);
    turns.play(3);
    turns.experiment->conclude(0, EndedBy::Person);
    ASSERT_FALSE(turns.trainer.sink.all<BlockDone>().empty());
    EXPECT_NEAR(turns.trainer.sink.all<BlockDone>().back().stealPct, 10, 1e-6);
    EXPECT_THAT(turns.trainer.sink.all<ExperimentJudged>().back().why, HasSubstr("its host gave 10.0 % of the processors' time to somebody else"));
}

TEST_F(InRun, TakesTurnsBetweenTwoArithmeticsWhereThePersonAgrees) {
    testing::TinyTrainer trainer(config());
    runMeasuring(trainer, {.id = "amp", .value = std::string("bf16"), .budgetSeconds = 3, .lossMayMove = true});
    ASSERT_EQ(trainer.sink.all<ExperimentBegan>().size(), 1u);
    EXPECT_FALSE(trainer.sink.all<ExperimentBegan>()[0].comparison.empty());
}

TEST_F(InRun, ComesToAnEndThoughItValidatesInTheMiddleOfEachBlock) {
    RunConfig made = config();
    made.switches["validation-every"] = std::int64_t{7};
    testing::TinyTrainer trainer(registry.complete(made).value());
    runMeasuring(trainer, {.id = "fusion", .value = std::string("kernels"), .budgetSeconds = 4});
    EXPECT_FALSE(trainer.sink.all<ValidationDone>().empty());
    EXPECT_TRUE(trainer.sink.all<ExperimentJudged>().back().over);
}

}  // namespace
}  // namespace stepscope
