// A session that another process recorded before, taken up again by a recorder: what came behind the checkpoint goes, what happened stays.
#include <gtest/gtest.h>

#include <algorithm>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct TakenUpTest : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    // Steps 1 to 9, a checkpoint of step 6 and one of step 3; killed as far as the database can tell.
    void recordFirst() {
        auto recorder = open({});
        recorder->publish(StateChanged{{500}, 0, RunState::Running, ""});
        for (int step = 1; step <= 9; ++step) {
            recorder->publish(sampleStep(step, {step * 1000}));
            recorder->publish(ValidationDone{step, {step * 1000 + 10}, {5}, 4.0});
            if (step % 3 == 0 && step < 9) recorder->publish(CheckpointSaved{step, {step * 1000 + 20}, {7}, checkpoint(step)});
            // Of the same step, and not in the checkpoint.
            if (step == 6) recorder->publish(SwitchApplied{6, {6030}, "amp", std::string("off"), std::string("bf16"), ""});
        }
        recorder->publish(LogLine{{9500}, 9, LogLevel::Info, "the last words"});
        recorder->publish(TextGenerated{9, {9600}, "In", "In the", true});
    }
    std::string checkpoint(int step) const { return folder.file("step-" + std::to_string(step)); }
    std::unique_ptr<Recorder> open(std::optional<Recorder::GoneOn> before) {
        Recorder::Options options;
        options.path = path;
        options.goesOn = std::move(before);
        auto recorder = Recorder::open(std::move(options), sampleInfo("another name"));
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        return recorder ? std::move(*recorder) : nullptr;
    }
    template <class E>
    std::size_t count() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(storedEvents(path, 1), [](const Event& event) { return std::holds_alternative<E>(event); }));
    }
    std::vector<std::int64_t> steps() const { return stepsOf(storedEvents(path, 1)); }
};

using Steps = std::vector<std::int64_t>;

}  // namespace

TEST_F(TakenUpTest, GoesOnBehindTheCheckpointAsTheSameSession) {
    recordFirst();
    {
        auto recorder = open(Recorder::GoneOn{1, checkpoint(6)});
        ASSERT_NE(recorder, nullptr);
        EXPECT_EQ(recorder->session(), 1);
        EXPECT_EQ(recorder->storedUntil().ns, 9600);
        EXPECT_EQ(steps(), (Steps{1, 2, 3, 4, 5, 6}));
        EXPECT_EQ(count<ValidationDone>(), 6u);
        EXPECT_EQ(count<SwitchApplied>(), 0u) << "it came behind the checkpoint, though after the same step";
        EXPECT_EQ(count<TextGenerated>(), 0u);
        EXPECT_EQ(count<LogLine>(), 1u) << "what was said stays";
        EXPECT_EQ(count<CheckpointSaved>(), 2u);
        recorder->publish(sampleStep(7, {20'000}));
        recorder->publish(StateChanged{{21'000}, 7, RunState::Finished, ""});
    }
    EXPECT_EQ(steps(), (Steps{1, 2, 3, 4, 5, 6, 7}));
    const auto all = (*SessionReader::open(path))->list();
    ASSERT_EQ(all->size(), 1u);
    EXPECT_EQ(all->front().state, RunState::Finished);
    EXPECT_EQ(all->front().steps, 7);
    EXPECT_EQ(all->front().name, "another name") << "its own, from the first time";
}

TEST_F(TakenUpTest, AnEarlierCheckpointTakesMoreBackAndNoneAll) {
    recordFirst();
    open(Recorder::GoneOn{1, checkpoint(3)});
    EXPECT_EQ(steps(), (Steps{1, 2, 3}));
    open(Recorder::GoneOn{1, ""});
    EXPECT_EQ(steps(), Steps{});
    EXPECT_EQ(count<LogLine>(), 1u);
}

TEST_F(TakenUpTest, ACheckpointThatAKillKeptFromBeingStoredHasEverythingBeforeIt) {
    recordFirst();
    open(Recorder::GoneOn{1, folder.file("step-10")});
    EXPECT_EQ(steps().size(), 9u);
}

TEST_F(TakenUpTest, IsRefusedWhileItIsRecordedAndWhereThereIsNone) {
    const auto refused = [&](std::int64_t session) {
        Recorder::Options options;
        options.path = path;
        options.goesOn = Recorder::GoneOn{session, ""};
        const auto recorder = Recorder::open(std::move(options), sampleInfo());
        return recorder ? std::string("it is not refused") : recorder.error().sentence;
    };
    recordFirst();
    {
        const auto held = open(Recorder::GoneOn{1, checkpoint(6)});
        EXPECT_NE(refused(1).find("Session 1 of"), std::string::npos);
        EXPECT_NE(refused(1).find("another process still records it"), std::string::npos);
    }
    EXPECT_NE(refused(7).find("7"), std::string::npos);
    ASSERT_TRUE(deleteSession(path, 1));
    EXPECT_NE(refused(1), "it is not refused");
    EXPECT_EQ((*SessionReader::open(path))->list()->size(), 0u);
}
