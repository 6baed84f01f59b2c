// What the person is told when a step cannot be made, and that the last good weights are kept.
#include "TinyTraining.h"
#include "core/train/Checkpoint.h"

#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(BreakdownSentence, SaysWhatBrokeWhyAndWhatToDo) {
    const std::string rising = breakdownSentence({.kind = Breakdown::Loss, .step = 41, .rate = 0.1, .lossBefore = 9.5, .lowestLoss = 3.25, .clips = false});
    EXPECT_THAT(rising, HasSubstr("step 41"));
    EXPECT_THAT(rising, HasSubstr("risen from 3.25 to 9.5"));
    EXPECT_THAT(rising, HasSubstr("grad-clip"));
    EXPECT_THAT(rising, HasSubstr("step 40 are unharmed"));
    EXPECT_THAT(rising, HasSubstr("checkpoint-every"));

    const std::string steady = breakdownSentence({.step = 41, .rate = 0.1, .lossBefore = 3.3, .lowestLoss = 3.25, .checkpoint = "/a/place"});
    EXPECT_THAT(steady, HasSubstr("0.1 is probably too high"));
    EXPECT_THAT(steady, HasSubstr("resume from /a/place"));
    EXPECT_THAT(steady, Not(HasSubstr("grad-clip")));

    EXPECT_THAT(breakdownSentence({.step = 1, .lossBefore = kNone, .lowestLoss = kNone, .fp16 = true}), HasSubstr("65504"));
    EXPECT_THAT(breakdownSentence({.kind = Breakdown::Gradients, .step = 1, .lossBefore = kNone, .lowestLoss = kNone, .fp16 = true}), HasSubstr("lowest loss scale"));
    EXPECT_THAT(breakdownSentence({.step = 1, .lossBefore = kNone, .lowestLoss = kNone, .weightsAreFinite = false}), HasSubstr("weights hold"));
}

TEST(Breakdown, ARunThatBreaksKeepsTheLastGoodWeightsAndSaysWhere) {
    RunConfig wild = testing::tinyConfig(Registry(testing::plainCpu()), 500);
    wild.lr = 100;
    wild.switches["grad-clip"] = 1.0;  // without it a gradient that is no number would reach the weights unseen
    const auto folder = std::filesystem::temp_directory_path() / ("stepscope-broken-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    testing::TinyTrainer trainer(wild);
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
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace stepscope
