// What a list of sessions says.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/events/ConfigKeys.h"
#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

TEST(SessionReader, ListsTheNewestFirst) {
    const TempFolder folder;
    for (const int day : {2, 3, 1}) {
        auto info = sampleInfo("day " + std::to_string(day));
        info.startedUnixMs = day * 86'400'000LL;
        ASSERT_TRUE(Recorder::open({.path = folder.file("s.db")}, info));
    }
    const auto list = (*SessionReader::open(folder.file("s.db")))->list();
    ASSERT_EQ(list->size(), 3u);
    EXPECT_EQ(list->at(0).name, "day 3");
    EXPECT_EQ(list->at(1).name, "day 2");
    EXPECT_EQ(list->at(2).name, "day 1");
}

TEST(SessionReader, LeavesTheFirstThreeStepsOutOfTheMedian) {
    const TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db")}, sampleInfo());
    std::int64_t step = 0;
    for (const std::int64_t ms : {900, 800, 700, 10, 30, 20}) {
        auto done = sampleStep(++step);
        done.duration = {ms * 1'000'000};
        done.tokens = 100;
        (*recorder)->publish(done);
    }
    (*recorder)->publish(ValidationDone{6, {6'500'000}, {1}, 3.5});
    (*recorder)->flush();
    const auto check = [&](const char* when) {
        const auto all = (*SessionReader::open(folder.file("s.db")))->list();
        const auto& found = all->at(0);
        EXPECT_EQ(found.steps, 6) << when;
        EXPECT_DOUBLE_EQ(found.msPerStepMedian, 20) << when;
        EXPECT_DOUBLE_EQ(found.tokensPerSecond, 5000) << when;
        EXPECT_DOUBLE_EQ(found.lossLast, sampleStep(6).loss) << when;
        EXPECT_DOUBLE_EQ(found.validationLossLast, 3.5) << when;
        EXPECT_EQ(found.config, listConfig(*sampleInfo().config)) << when;
        EXPECT_EQ(found.tags, sampleInfo().tags) << when;
    };
    check("while it runs");
    ASSERT_TRUE((*recorder)->finish());
    check("after its end");
}

TEST(SessionReader, ReadsWhatWasMeasuredOfTheMachineAndNoStepForIt) {
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    for (int step = 1; step <= 20; ++step) {
        (*recorder)->publish(sampleStep(step));
        if (step % 4 == 0) (*recorder)->publish(DeviceSample{.at = {step * 1'000'000LL + 1}, .cpuPct = 1.0 * step, .residentBytes = 7});
    }
    ASSERT_TRUE((*recorder)->finish());
    // Whoever reads a step now finds it damaged.
    SQLite::Database(path, SQLite::OPEN_READWRITE, 5000).exec("UPDATE steps SET at_ns = 'x' WHERE step = 3");
    auto reader = SessionReader::open(path);
    ASSERT_FALSE((*reader)->events(1, 0, 100));
    const auto samples = (*reader)->samples(1, 100);
    ASSERT_TRUE(samples) << samples.error().sentence;
    ASSERT_EQ(samples->size(), 5u);
    for (std::size_t i = 0; i < samples->size(); ++i) EXPECT_EQ((*samples)[i].cpuPct, 4.0 * static_cast<double>(i + 1));
    EXPECT_EQ((*reader)->samples(1, 2)->size(), 2u);
    EXPECT_EQ((*reader)->samples(2, 2).error().code, ErrorCode::NotFound);
}

TEST(SessionReader, KnowsNothingOfASessionWithoutSteps) {
    const TempFolder folder;
    ASSERT_TRUE(Recorder::open({.path = folder.file("s.db")}, sampleInfo()));
    const auto found = (*SessionReader::open(folder.file("s.db")))->summary(1);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->steps, 0);
    for (const double unknown : {found->lossLast, found->validationLossLast, found->msPerStepMedian, found->tokensPerSecond})
        EXPECT_TRUE(std::isnan(unknown));
}

TEST(SessionReader, TellsRunningFromInterruptedByTheLock) {
    const TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db")}, sampleInfo());
    auto reader = SessionReader::open(folder.file("s.db"));
    const auto state = [&] { return (*reader)->list()->at(0).state; };
    EXPECT_EQ(state(), RunState::Preparing);
    (*recorder)->publish(StateChanged{{5}, 0, RunState::Running, ""});
    (*recorder)->flush();
    EXPECT_EQ(state(), RunState::Running) << "seen from the very process that records";
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_EQ(state(), RunState::Interrupted) << "its end was never said";
}

TEST(SessionReader, KeepsHowAndWhenARunEnded) {
    const TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db")}, sampleInfo());
    (*recorder)->publish(StateChanged{{2'000'000'000}, 4, RunState::Failed, "The loss is not a number."});
    ASSERT_TRUE((*recorder)->finish());
    const auto found = (*SessionReader::open(folder.file("s.db")))->summary((*recorder)->session());
    EXPECT_EQ(found->state, RunState::Failed);
    EXPECT_EQ(found->why, "The loss is not a number.");
    EXPECT_EQ(found->endedUnixMs, sampleInfo().startedUnixMs + 2000);
}

TEST(SessionReader, TellsARunOfSeveralWorkersByWhatTheyTook) {
    const TempFolder folder;
    auto recorder = Recorder::open({.path = folder.file("s.db")}, sampleInfo());
    auto reader = SessionReader::open(folder.file("s.db"));
    EXPECT_FALSE((*reader)->summary(1)->severalWorkers);
    std::vector<WorkerTimes> blocks;
    for (std::int64_t step : {7, 9}) {
        blocks.push_back({.phases = {"forward", "waiting"}, .workers = 2, .steps = {{step, step * 1000}}, .ns = {9, 0, 5, step}});
        (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeWorkerTimes(blocks.back())));
    }
    ASSERT_TRUE((*recorder)->finish());
    EXPECT_TRUE((*reader)->summary(1)->severalWorkers);
    std::vector<WorkerTimes> read;
    const auto done = forEachWorkerTimes(**reader, 1, [&](const WorkerTimes& block) -> Status {
        read.push_back(block);
        return {};
    });
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(read, blocks);
}

TEST(SessionReader, TellsRunsThatWereFlippedAndHowManyWorkersTrained) {
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    const auto record = [&](std::int64_t workers, const std::string& to) {
        auto info = sampleInfo();
        info.workers = workers;
        auto recorder = Recorder::open({.path = path}, info);
        (*recorder)->publish(sampleStep(1));
        (*recorder)->publish(SwitchApplied{1, {2'000'000}, "amp", std::string("off"), to, ""});
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    };
    const auto flipped = record(1, "bf16"), toTheSame = record(2, "off");
    auto reader = SessionReader::open(path);
    const auto one = (*reader)->summary(flipped), two = (*reader)->summary(toTheSame);
    ASSERT_TRUE(one && two);
    EXPECT_TRUE(one->flipped);
    EXPECT_EQ(one->workers, 1);
    EXPECT_FALSE(two->flipped) << "to the value that it had";
    EXPECT_EQ(two->workers, 2);
}

TEST(SessionReader, ARunWhoseValueTookTurnsAndStayedCountsAsFlippedBecauseHalfOfItsStepsAreTheOtherValues) {
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    const auto record = [&](bool turns) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        (*recorder)->publish(sampleStep(1));
        if (turns) (*recorder)->publish(ExperimentBegan{.step = 1, .at = {2'000'000}, .configA = "{}", .configB = "{}", .question = "q"});
        (*recorder)->publish(sampleStep(2));
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    };
    const auto measured = record(true), untouched = record(false);
    auto reader = SessionReader::open(path);
    const auto one = (*reader)->summary(measured), two = (*reader)->summary(untouched);
    ASSERT_TRUE(one && two);
    EXPECT_TRUE(one->flipped);
    EXPECT_FALSE(two->flipped);
}

TEST(SessionReader, NamesTheSessionThatIsNotThere) {
    const TempFolder folder;
    ASSERT_TRUE(Recorder::open({.path = folder.file("s.db")}, sampleInfo()));
    auto reader = SessionReader::open(folder.file("s.db"));
    for (const auto& error : {(*reader)->summary(999999).error(), (*reader)->info(999999).error(), (*reader)->events(999999, 0, 1).error(),
                              (*reader)->eventCount(999999).error()}) {
        EXPECT_EQ(error.code, ErrorCode::NotFound);
        EXPECT_NE(error.sentence.find("999999"), std::string::npos) << error.sentence;
    }
}

TEST(SessionReader, SeesWhatIsRecordedIntoAFileThatWasEmptyWhenItWasOpened) {
    const TempFolder folder;
    writeFile(folder.file("s.db"), "");
    auto reader = SessionReader::open(folder.file("s.db"));
    ASSERT_TRUE(reader) << reader.error().sentence;
    EXPECT_TRUE((*reader)->list()->empty());
    EXPECT_EQ(contentOf(folder.file("s.db")), "") << "a reader does not write";
    ASSERT_TRUE(Recorder::open({.path = folder.file("s.db")}, sampleInfo()));
    EXPECT_EQ((*reader)->list()->size(), 1u);
}
