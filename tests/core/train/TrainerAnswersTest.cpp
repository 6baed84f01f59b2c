// What the loop says to a person who asks for what cannot be, or for what is done already. Nothing that was asked for ends in silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "TinyTraining.h"
#include "core/base/Format.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using testing::TinyTrainer;

RunConfig config(std::int64_t steps, std::int64_t validationEvery) {
    const Registry registry(testing::plainCpu());
    RunConfig made = testing::tinyConfig(registry, steps);
    made.switches["validation-every"] = validationEvery;
    return made;
}

// Of the tiny data the last `tokens` validate.
std::shared_ptr<const BatchSource> withValidationPart(std::int64_t tokens) {
    Corpus corpus = testing::tinyBatches()->corpus();
    corpus.trainTokens = corpus.tokens->size() - tokens;
    return std::make_shared<BatchSource>(std::move(corpus));
}

std::vector<LogLine> linesOf(const TinyTrainer& trainer, LogLevel level) {
    std::vector<LogLine> found;
    for (auto& line : trainer.sink.all<LogLine>())
        if (line.level == level) found.push_back(std::move(line));
    return found;
}

void sendAfter(TinyTrainer& trainer, std::map<std::int64_t, std::vector<Command>> commands) {
    trainer.sink.onEvent = [&trainer, commands = std::move(commands)](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || !commands.contains(done->step)) return;
        for (const Command& command : commands.at(done->step)) trainer.commands.push(command);
    };
}

TEST(ValidationThatIsDueWithoutAValidationPart, IsWarnedOfOnceARun) {
    TinyTrainer trainer(config(7, 2), withValidationPart(0));
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto warnings = linesOf(trainer, LogLevel::Warning);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].step, 2);
    EXPECT_EQ(warnings[0].text, "There is no validation part to evaluate on; set validation-fraction above 0 in a new run.");
    EXPECT_TRUE(trainer.sink.all<ValidationDone>().empty());
}

TEST(ValidationThatIsDueOnlyAtTheEnd, IsWarnedOfThere) {
    TinyTrainer trainer(config(3, 100), withValidationPart(0));
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(linesOf(trainer, LogLevel::Warning).size(), 1u);
    EXPECT_EQ(linesOf(trainer, LogLevel::Warning)[0].step, 3);
}

TEST(ValidationThatNobodyWants, IsNotWarnedOf) {
    TinyTrainer trainer(config(3, 0), withValidationPart(0));
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_TRUE(linesOf(trainer, LogLevel::Warning).empty());
}

TEST(ValidateNow, IsAnsweredEachTimeThatThereIsNothingToEvaluateOn) {
    TinyTrainer trainer(config(8, 4), withValidationPart(0));
    sendAfter(trainer, {{2, {ValidateNow{}}}, {6, {ValidateNow{}}}});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::vector<std::int64_t> steps;
    for (const auto& line : linesOf(trainer, LogLevel::Warning)) steps.push_back(line.step);
    EXPECT_EQ(steps, (std::vector<std::int64_t>{2, 4, 6})) << "and what is due by itself once";
}

TEST(ValidateNow, SaysThatTheValidationPartIsShorterThanTheContext) {
    TinyTrainer trainer(config(3, 0), withValidationPart(12));
    sendAfter(trainer, {{2, {ValidateNow{}}}});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto warnings = linesOf(trainer, LogLevel::Warning);
    ASSERT_EQ(warnings.size(), 1u);
    for (const char* part : {"12 tokens", "needs 13", "lower context", "validation-fraction"})
        EXPECT_NE(warnings[0].text.find(part), std::string::npos) << warnings[0].text;
}

TEST(ValidateNow, EvaluatesWhereThereIsSomething) {
    TinyTrainer trainer(config(3, 0), withValidationPart(13));
    sendAfter(trainer, {{2, {ValidateNow{}}}});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_TRUE(linesOf(trainer, LogLevel::Warning).empty());
    EXPECT_EQ(trainer.sink.all<ValidationDone>().size(), 1u);
}

class SavingTwice : public ::testing::Test {
protected:
    SavingTwice() { fs::remove_all(folder); }
    ~SavingTwice() override { fs::remove_all(folder); }

    fs::path folder = fs::temp_directory_path() / ("stepscope-twice-" + std::to_string(::getpid()));
};

TEST_F(SavingTwice, AtOneStepSaysWhereTheFirstIsAndWritesNothing) {
    RunConfig wanted = config(9, 0);
    wanted.checkpointEvery = 5;
    TinyTrainer trainer(wanted);
    trainer.setup.checkpointFolder = folder.string();
    sendAfter(trainer, {{5, {SaveCheckpoint{}}}, {7, {SaveCheckpoint{}, SaveCheckpoint{}}}});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    std::vector<std::int64_t> saved;
    for (const auto& done : trainer.sink.all<CheckpointSaved>()) saved.push_back(done.step);
    EXPECT_EQ(saved, (std::vector<std::int64_t>{5, 7}));
    EXPECT_TRUE(linesOf(trainer, LogLevel::Error).empty());
    std::vector<std::string> kept;
    for (const auto& line : linesOf(trainer, LogLevel::Info))
        if (line.text.find("is kept already") != std::string::npos) {
            kept.push_back(line.text);
            EXPECT_EQ(line.subject.kind, Subject::Kind::Checkpoint);
            EXPECT_THAT(line.text, ::testing::HasSubstr(" in " + line.subject.name + ".")) << "who waits for it finds it there";
        }
    EXPECT_EQ(kept, (std::vector<std::string>{"Step 5 is kept already in " + (folder / "step-0000005").string() + ".",
                                              "Step 7 is kept already in " + (folder / "step-0000007").string() + "."}));
}

TEST_F(SavingTwice, ToAPlaceThatIsNamedWritesThereToo) {
    RunConfig wanted = config(6, 0);
    wanted.checkpointEvery = 5;
    TinyTrainer trainer(wanted);
    trainer.setup.checkpointFolder = folder.string();
    sendAfter(trainer, {{5, {SaveCheckpoint{(folder / "mine").string()}}}});
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    EXPECT_EQ(trainer.sink.all<CheckpointSaved>().size(), 2u);
    EXPECT_TRUE(fs::exists(folder / "mine" / "model.safetensors"));
}

TEST(ACheckpointThatIsDue, HoldsTheRunUpUntilTheDiskHasRoomForIt) {
    const fs::path disk = fs::temp_directory_path() / ("stepscope-small-disk-" + std::to_string(::getpid()));
    fs::create_directories(disk);
    struct Leave {
        fs::path disk;
        ~Leave() {
            ::umount2(disk.c_str(), MNT_DETACH);
            fs::remove(disk);
        }
    } leave{disk};
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=3m,mode=0755") != 0) GTEST_SKIP() << "this user may not mount a small disk";
    std::ofstream(disk / "ballast") << std::string(3 << 20, 'x');  // as much of it as there is room for
    TinyTrainer trainer(config(6, 0));
    trainer.setup.config.checkpointEvery = 3;
    trainer.setup.checkpointFolder = disk / "checkpoints";
    int paused = 0;
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* changed = std::get_if<StateChanged>(&event);
        if (changed == nullptr || changed->state != RunState::Paused) return;
        ++paused;
        EXPECT_NE(changed->why.find("no room for the checkpoint of step 3"), std::string::npos) << changed->why;
        fs::remove(disk / "ballast");
    };
    const TrainerOutcome outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Finished);
    EXPECT_EQ(outcome.lostCheckpoints, 0);
    EXPECT_EQ(paused, 1);
    EXPECT_EQ(trainer.sink.all<CheckpointSaved>().size(), 2u);
}

// The same for a user who may not mount a disk: a file where the folder should be, and the answer that there is no room.
TEST(ACheckpointThatIsDue, HoldsTheRunUpForAsLongAsThereIsSaidToBeNoRoom) {
    const fs::path folder = fs::temp_directory_path() / ("stepscope-no-room-" + std::to_string(::getpid()));
    struct Leave {
        fs::path folder;
        ~Leave() { fs::remove_all(folder); }
    } leave{folder};
    std::ofstream(folder) << "in the way";
    TinyTrainer trainer(config(6, 0));
    trainer.setup.config.checkpointEvery = 3;
    trainer.setup.checkpointFolder = folder / "checkpoints";
    int asked = 0, paused = 0;
    trainer.setup.room = [&] {
        if (++asked < 5) return std::int64_t{1000};
        fs::remove(folder);
        return std::int64_t{1} << 40;
    };
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* changed = std::get_if<StateChanged>(&event);
        if (changed == nullptr || changed->state != RunState::Paused) return;
        ++paused;
        EXPECT_TRUE(isHeldUp(*changed));
        for (const std::string& part : {std::string("no room for the checkpoint of step 3"), format::bytes({1000}) + " are free"})
            EXPECT_NE(changed->why.find(part), std::string::npos) << changed->why;
    };
    const TrainerOutcome outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Finished);
    EXPECT_EQ(outcome.lostCheckpoints, 0);
    EXPECT_EQ(paused, 1);
    EXPECT_EQ(trainer.sink.all<CheckpointSaved>().size(), 2u);
}

TEST(CheckpointsThatCannotBeWrittenAtAll, AreCountedAndToldAtTheEndOfTheRun) {
    TinyTrainer trainer(config(6, 0));
    trainer.setup.config.checkpointEvery = 2;
    trainer.setup.checkpointFolder = "/dev/null/checkpoints";
    const TrainerOutcome outcome = trainer.run();
    EXPECT_EQ(outcome.state, RunState::Finished) << "what was learnt so far is not thrown away for it";
    EXPECT_EQ(outcome.lostCheckpoints, 3);
    const auto errors = linesOf(trainer, LogLevel::Error);
    ASSERT_EQ(errors.size(), 4u);
    EXPECT_EQ(errors.back().text, "3 of the checkpoints that were due could not be written; the log above says why.");
}

TEST(AStepOnACpu, CopiesNothing) {
    TinyTrainer trainer(config(3, 0));
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    for (const auto& step : trainer.sink.all<StepDone>()) EXPECT_EQ(step.phaseNs[static_cast<std::size_t>(Phase::Copy)], 0);
}

}  // namespace
}  // namespace stepscope
