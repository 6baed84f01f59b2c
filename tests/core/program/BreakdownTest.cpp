// What the person is told when a step cannot be made, and that the last good weights are kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(BreakdownSentence, SaysWhatBrokeWhyAndWhatToDo) {
    const std::string rising =
        breakdownSentence({.kind = Breakdown::Loss, .step = 41, .rate = 0.1, .lossBefore = 9.5, .lowestLoss = 3.25, .clips = false});
    EXPECT_THAT(rising, HasSubstr("step 41"));
    EXPECT_THAT(rising, HasSubstr("risen from 3.25 to 9.5"));
    EXPECT_THAT(rising, HasSubstr("grad-clip"));
    EXPECT_THAT(rising, HasSubstr("the weights of step 40 hold numbers, but give no loss any more")) << "they are broken";
    EXPECT_THAT(rising, HasSubstr("checkpoint-every"));

    const std::string steady = breakdownSentence({.step = 41, .rate = 0.1, .lossBefore = 3.3, .lowestLoss = 3.25, .checkpoint = "/a/place"});
    EXPECT_THAT(steady, HasSubstr("0.1 is probably too high"));
    EXPECT_THAT(steady, HasSubstr("resume from /a/place"));
    EXPECT_THAT(steady, Not(HasSubstr("grad-clip")));

    const std::string gradients = breakdownSentence(
        {.kind = Breakdown::Gradients, .step = 41, .rate = 0.1, .lossBefore = 3.3, .lowestLoss = 3.25, .checkpoint = "/a/place", .kept = "/a/place"});
    EXPECT_THAT(gradients, HasSubstr("the weights are those of step 40 (kept in /a/place)"));
    const std::string inFp16 =
        breakdownSentence({.step = 41, .lossBefore = 3.3, .lowestLoss = 3.25, .fp16 = true, .checkpoint = "/old", .kept = "/new"});
    EXPECT_THAT(inFp16, HasSubstr("resume from /new with amp=bf16"));
    const std::string kept = breakdownSentence({.step = 41, .lossBefore = 3.3, .lowestLoss = 3.25, .checkpoint = "/old", .kept = "/new"});
    EXPECT_THAT(kept, HasSubstr("resume from /old")) << "with the weights of /new there is no loss";

    EXPECT_THAT(breakdownSentence({.step = 1, .lossBefore = kNone, .lowestLoss = kNone, .fp16 = true}), HasSubstr("65504"));
    EXPECT_THAT(breakdownSentence({.kind = Breakdown::Gradients, .step = 1, .lossBefore = kNone, .lowestLoss = kNone, .fp16 = true}),
                HasSubstr("lowest loss scale"));
    EXPECT_THAT(breakdownSentence({.step = 1, .lossBefore = kNone, .lowestLoss = kNone, .stateIsFinite = false}),
                HasSubstr("weights or moments hold"));
}

TEST(BreakdownSentence, OfAnUpdateThatBrokeTheStateNamesTheStepTheLossAndTheCheckpointBeforeIt) {
    BreakdownFacts facts{
        .kind = Breakdown::State, .step = 2, .rate = 50, .lossBefore = 9.5, .lowestLoss = 3.25, .clips = false, .checkpoint = "/a/place"};
    EXPECT_EQ(breakdownSentence(facts),
              "Weights or moments are not numbers after step 2: the loss had risen from 3.25 to 9.5 already, so the learning rate 50 is too high, "
              "and clipping is "
              "off (grad-clip): resume from /a/place with a lower lr.");
    facts.checkpoint.clear();
    EXPECT_THAT(breakdownSentence(facts), HasSubstr("no checkpoint was made before it"));
}

class BreakdownOfARun : public ::testing::Test {
protected:
    BreakdownOfARun() { std::filesystem::remove_all(folder); }
    ~BreakdownOfARun() override { std::filesystem::remove_all(folder); }

    static RunConfig wild(double clip) {
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 500);
        config.lr = 100;
        config.switches["grad-clip"] = clip;
        return config;
    }

    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("stepscope-broken-" + std::to_string(::getpid()));
};

TEST_F(BreakdownOfARun, KeepsTheLastGoodWeightsAndSaysWhere) {
    testing::TinyTrainer trainer(wild(1));
    trainer.setup.checkpointFolder = folder.string();
    const auto outcome = trainer.run();
    ASSERT_EQ(outcome.state, RunState::Failed);
    const auto saved = trainer.sink.all<CheckpointSaved>();
    ASSERT_EQ(saved.size(), 1u) << outcome.error.sentence;
    EXPECT_THAT(outcome.error.sentence, HasSubstr(saved[0].path));
    const auto state = loadCheckpoint(saved[0].path, 61);
    ASSERT_TRUE(state.ok()) << state.error().sentence;
    EXPECT_TRUE(std::isfinite(state->weights.sum().item<double>()));
    EXPECT_EQ(state->updates, static_cast<std::int64_t>(trainer.sink.losses().size()));
}

// Without clipping nobody looks at the gradients: what is no number reaches the weights in the step before the loss is none.
TEST_F(BreakdownOfARun, WithoutClippingNamesACheckpointThatHoldsNumbersTooAndWritesNoOther) {
    RunConfig unclipped = wild(0);
    unclipped.checkpointEvery = 1;
    testing::TinyTrainer trainer(unclipped);
    trainer.setup.checkpointFolder = folder.string();
    const auto outcome = trainer.run();
    ASSERT_EQ(outcome.state, RunState::Failed);
    const auto saved = trainer.sink.all<CheckpointSaved>();
    ASSERT_FALSE(saved.empty()) << outcome.error.sentence;
    EXPECT_THAT(outcome.error.sentence, HasSubstr("resume from " + saved.back().path));
    for (const auto& one : saved) {
        const auto state = loadCheckpoint(one.path, 61);
        ASSERT_TRUE(state.ok()) << state.error().sentence;
        EXPECT_TRUE(state->isFinite()) << one.path;
    }
    EXPECT_EQ(outcome.lostCheckpoints, 0) << "what was not written was not worth keeping";
}

// A State that an update broke while the loss is a number still, as a gradient of 1e20 leaves it, whose square is beyond float32.
class BreakdownOfTheState : public BreakdownOfARun {
protected:
    static RunConfig tame(std::int64_t checkpointEvery) {
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), 5);
        config.switches["grad-clip"] = 0.0;
        config.checkpointEvery = checkpointEvery;
        return config;
    }
    void breakAfter(testing::TinyTrainer& trainer, std::int64_t step) {
        trainer.setup.checkpointFolder = folder.string();
        trainer.sink.onEvent = [&trainer, step, second = trainer.setup.state.secondMoment](const Event& event) {
            const auto* done = std::get_if<StepDone>(&event);
            if (done == nullptr || done->step != step) return;
            second.select(0, 7).fill_(std::numeric_limits<float>::infinity());
            trainer.commands.push(SaveCheckpoint{});
        };
    }
    static std::vector<std::string> errorsOf(const testing::TinyTrainer& trainer) {
        std::vector<std::string> all;
        for (const auto& line : trainer.sink.all<LogLine>())
            if (line.level == LogLevel::Error) all.push_back(line.text);
        return all;
    }
};

TEST_F(BreakdownOfTheState, EndsTheRunWhereACheckpointIsDueAndNamesTheOneBefore) {
    testing::TinyTrainer trainer(tame(1));
    breakAfter(trainer, 3);
    trainer.setup.room = [] { return std::int64_t{0}; };  // room on the disk would not mend it, and is not waited for
    const auto outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Failed);
    EXPECT_EQ(trainer.sink.losses().size(), 3u);
    const auto saved = trainer.sink.all<CheckpointSaved>();
    ASSERT_EQ(saved.size(), 2u);
    EXPECT_THAT(outcome.error.sentence, HasSubstr("not numbers after step 3"));
    EXPECT_THAT(outcome.error.sentence, HasSubstr("resume from " + saved[1].path));
    EXPECT_EQ(errorsOf(trainer), std::vector<std::string>{outcome.error.sentence});
    EXPECT_EQ(outcome.lostCheckpoints, 0);
    EXPECT_FALSE(std::filesystem::exists(folder / "step-0000003"));
}

TEST_F(BreakdownOfTheState, IsNotSavedForAPersonEitherWhoIsToldTheSame) {
    testing::TinyTrainer trainer(tame(0));
    breakAfter(trainer, 3);
    EXPECT_EQ(trainer.run().state, RunState::Finished) << "no step has failed yet";
    EXPECT_TRUE(trainer.sink.all<CheckpointSaved>().empty());
    ASSERT_EQ(errorsOf(trainer).size(), 1u);
    EXPECT_THAT(errorsOf(trainer)[0], HasSubstr("not numbers after step 3"));
    EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace stepscope
