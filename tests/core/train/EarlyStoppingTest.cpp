// A run ends when its validations find nothing better for long enough, says so, keeps what was best, and goes on counting when it is resumed. A
// learning rate of 0 finds nothing better after its first validation. CTest.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "core/state/Checkpoint.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TinyTrainer;

class EarlyStopping : public ::testing::Test {
protected:
    ~EarlyStopping() override { std::filesystem::remove_all(folder); }

    static RunConfig standingStill(std::int64_t steps, std::int64_t patience) {
        RunConfig config = testing::tinyConfig(Registry(testing::plainCpu()), steps);
        config.lr = 0;
        config.earlyStopping = patience;
        config.switches["validation-every"] = std::int64_t{2};
        return config;
    }
    static StateChanged endOf(const TinyTrainer& trainer) { return trainer.sink.all<StateChanged>().back(); }
    std::string step(int number) const { return (folder / ("step-000000" + std::to_string(number))).string(); }

    const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("stepscope-early-" + std::to_string(::getpid()));
};

TEST_F(EarlyStopping, EndsWithASentenceAfterSoManyValidationsWithoutALowerLoss) {
    TinyTrainer trainer(standingStill(1000, 3));
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.losses().size(), 8u) << "step 2 is the best, and 4, 6 and 8 are no better";
    EXPECT_EQ(endOf(trainer).state, RunState::Finished);
    EXPECT_THAT(endOf(trainer).why, HasSubstr("Ended early, before step 1"));
    EXPECT_THAT(endOf(trainer).why, HasSubstr("3 validations in a row found no loss below"));
    EXPECT_THAT(endOf(trainer).why, HasSubstr("of step 2 (early-stopping=3)."));
}

TEST_F(EarlyStopping, MakesAllItsStepsWhileTheLossFallsOrNobodyAsksForIt) {
    TinyTrainer off(standingStill(20, 0));
    off.run();
    EXPECT_EQ(off.sink.losses().size(), 20u);
    EXPECT_EQ(endOf(off).why, "");
    RunConfig learning = standingStill(20, 1);
    learning.lr = 3e-3;
    learning.switches["validation-every"] = std::int64_t{10};
    TinyTrainer falls(learning);
    falls.run();
    const auto validated = falls.sink.all<ValidationDone>();
    ASSERT_EQ(validated.size(), 2u);
    ASSERT_LT(validated[1].loss, validated[0].loss);
    EXPECT_EQ(falls.sink.losses().size(), 20u);
}

TEST_F(EarlyStopping, APersonWhoLooksBringsNoEndNearer) {
    TinyTrainer trainer(standingStill(1000, 2));
    trainer.sink.onEvent = [&](const Event& event) {
        if (std::holds_alternative<StepDone>(event)) trainer.commands.push(ValidateNow{});
    };
    trainer.run();
    EXPECT_EQ(trainer.sink.losses().size(), 6u);
    EXPECT_GT(trainer.sink.all<ValidationDone>().size(), 6u);
}

TEST_F(EarlyStopping, SaysWhereNoValidationsAreDue) {
    RunConfig config = standingStill(5, 1);
    config.switches["validation-every"] = std::int64_t{0};
    TinyTrainer trainer(config);
    trainer.run();
    EXPECT_EQ(trainer.sink.losses().size(), 5u);
    std::vector<std::string> told;
    for (const auto& line : trainer.sink.all<LogLine>()) told.push_back(line.text);
    EXPECT_THAT(told, ::testing::Contains(HasSubstr("none are due")));
}

TEST_F(EarlyStopping, KeepsTheBestCheckpointBesideTheNewest) {
    RunConfig config = standingStill(1000, 3);
    config.checkpointEvery = 2;
    config.keep = 1;
    TinyTrainer trainer(config);
    trainer.setup.checkpointFolder = folder.string();
    trainer.run();
    std::vector<std::string> kept;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) kept.push_back(entry.path().filename().string());
    std::ranges::sort(kept);
    EXPECT_THAT(kept, ElementsAre("step-0000002", "step-0000008"));
}

TEST_F(EarlyStopping, GoesOnCountingWhenItIsResumed) {
    RunConfig config = standingStill(1000, 3);
    config.checkpointEvery = 5;
    config.checkpointAtEnd = "on";
    TinyTrainer whole(config);
    whole.setup.checkpointFolder = folder.string();
    whole.run();
    ASSERT_EQ(whole.sink.losses().size(), 8u);
    const auto meta = readCheckpointMeta(step(8));
    ASSERT_TRUE(meta) << meta.error().sentence;
    EXPECT_EQ(meta->patience.waited, 3);
    EXPECT_EQ(meta->patience.bestStep, 2);
    EXPECT_EQ(meta->patience.best, whole.sink.all<ValidationDone>().front().loss);

    const auto resumed = [&](int from, std::int64_t patience) {
        RunConfig again = standingStill(1000, patience);
        TinyTrainer trainer(again);
        trainer.setup.state = loadCheckpoint(step(from), trainer.setup.state.config.paddedVocabulary).value();
        trainer.run();
        return trainer.sink.all<StepDone>().back().step;
    };
    EXPECT_EQ(resumed(5, 3), 8) << "as the unbroken run";
    EXPECT_EQ(resumed(8, 3), 10) << "it ended, and its next validation is no better";
    EXPECT_EQ(resumed(8, 5), 12) << "two more of them";
}

TEST_F(EarlyStopping, IsAgreedByAllWorkers) {
    testing::ThreadWorkers group(2);
    std::array<std::unique_ptr<TinyTrainer>, 2> workers;
    for (auto& worker : workers) worker = std::make_unique<TinyTrainer>(standingStill(1000, 2));
    group.run([&](int rank) {
        at::set_num_threads(1);
        DataParallel others(group.of(rank));
        TinyTrainer& worker = *workers[static_cast<std::size_t>(rank)];
        worker.setup.others = &others;
        if (worker.run().state == RunState::Failed) group.leave();
    });
    for (const auto& worker : workers) {
        EXPECT_EQ(endOf(*worker).state, RunState::Finished) << endOf(*worker).why;
        EXPECT_EQ(worker->sink.losses().size(), 6u);
        EXPECT_THAT(endOf(*worker).why, HasSubstr("2 validations in a row"));
    }
}

TEST(Patience, ALossThatIsNoNumberIsNoBetterOne) {
    Patience patience;
    patience.hear(std::nan(""), 1);
    EXPECT_EQ(patience.waited, 1);
    patience.hear(2.0, 2);
    EXPECT_EQ(patience.waited, 0);
    patience.hear(std::numeric_limits<double>::infinity(), 3);
    patience.hear(2.0, 4);
    EXPECT_EQ(patience.waited, 2);
    EXPECT_EQ(patience.bestStep, 2);
    patience.hear(1.5, 5);
    EXPECT_EQ(patience.waited, 0);
    EXPECT_EQ(patience.best, 1.5);
}

}  // namespace
}  // namespace stepscope
