// A session that another process recorded before, taken up again by a recorder: what came behind the checkpoint goes, what happened stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/trace/SliceCodec.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/Captures.h"
#include "sessions/Samples.h"
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
            // Written by a thread of its own: that of the checkpoint's step comes behind it.
            if (step == 6) recorder->publish(TextGenerated{6, {6040}, "In", "In a", true});
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
        EXPECT_EQ(count<TextGenerated>(), 1u) << "that of step 6 stays, nobody writes it again";
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
    EXPECT_EQ(count<TextGenerated>(), 0u);
    open(Recorder::GoneOn{1, ""});
    EXPECT_EQ(steps(), Steps{});
    EXPECT_EQ(count<LogLine>(), 1u);
}

TEST_F(TakenUpTest, ACheckpointThatAKillKeptFromBeingStoredHasEverythingBeforeIt) {
    recordFirst();
    open(Recorder::GoneOn{1, folder.file("step-10")});
    EXPECT_EQ(steps().size(), 9u);
}

// What trains it went on while nobody recorded here: what is missing may lie before what is there, at the same moments too.
TEST_F(TakenUpTest, OneWhoseTrainingWentOnElsewhereKeepsAllAndTakesWhatIsMissing) {
    recordFirst();
    const std::size_t logged = count<LogLine>();
    {
        auto recorder = open(Recorder::GoneOn{.session = 1, .checkpoint = {}, .all = true});
        ASSERT_NE(recorder, nullptr);
        EXPECT_EQ(steps().size(), 9u);
        EXPECT_EQ(count<SwitchApplied>(), 1u);
        EXPECT_EQ(count<TextGenerated>(), 2u);
        // As many as were stored before, each at a moment that has one already: none takes the place of another.
        for (int i = 0; i < 40; ++i) recorder->publish(LogLine{{9500}, 9, LogLevel::Info, "said since"});
        recorder->publish(sampleStep(10, {10'000}));
        recorder->publish(StateChanged{{11'000}, 10, RunState::Finished, ""});
    }
    EXPECT_EQ(steps(), (Steps{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(count<LogLine>(), logged + 40);
    EXPECT_EQ((*SessionReader::open(path))->list()->front().state, RunState::Finished);
}

TEST_F(TakenUpTest, TheTimesOfWorkersHaveEachStepOnceToo) {
    const auto publish = [](Recorder& recorder, std::int64_t first, std::int64_t last, std::int64_t ns) {
        WorkerTimes times{.phases = {"forward", "backward"}, .workers = 2, .steps = {}, .ns = {}};
        for (std::int64_t step = first; step <= last; ++step) {
            times.steps.push_back({step, step * 1000});
            times.ns.insert(times.ns.end(), 4, ns);
        }
        recorder.publishChunk(std::make_shared<const Chunk>(encodeWorkerTimes(times)));
    };
    {
        auto recorder = open({});
        for (int step = 1; step <= 9; ++step) recorder->publish(sampleStep(step, {step * 1000}));
        for (const std::int64_t first : {1, 4, 7}) publish(*recorder, first, first + 2, 10 + first);
        recorder->publish(CheckpointSaved{5, {5020}, {7}, checkpoint(5)});
    }
    {
        auto recorder = open(Recorder::GoneOn{1, checkpoint(5)});
        ASSERT_NE(recorder, nullptr);
        publish(*recorder, 20, 21, 30);
    }
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    std::vector<std::int64_t> told, ns;
    const Status read = forEachWorkerTimes(**reader, 1, [&](const WorkerTimes& block) -> Status {
        for (const auto& step : block.steps) told.push_back(step.number);
        ns.insert(ns.end(), block.ns.begin(), block.ns.end());
        return {};
    });
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(told, (Steps{1, 2, 3, 4, 5, 20, 21})) << "a block that reached over the checkpoint is cut there";
    Steps expected(12, 11);
    expected.insert(expected.end(), 8, 14);
    expected.insert(expected.end(), 8, 30);
    EXPECT_EQ(ns, expected);
    const auto lanes = (*reader)->chunkLanes(1);
    ASSERT_EQ(lanes->size(), 1u);
    EXPECT_EQ(lanes->front().chunks, 3);
    EXPECT_EQ(lanes->front().records, 28);
    open(Recorder::GoneOn{1, ""});
    EXPECT_EQ((*SessionReader::open(path))->chunkLanes(1)->size(), 0u) << "begun anew, it has none";
}

TEST_F(TakenUpTest, WhatACaptureHadObservedThatAKillCutShortIsNotGivenToTheNextOne) {
    const auto publish = [](Recorder& recorder, std::int64_t begin, int slices) {
        SliceBlock block{.thread = {.thread = 1, .name = "trainer"}, .strings = {"", "x"}};
        for (int i = 0; i < slices; ++i) block.slices.push_back({.start = begin + i * 10, .duration = 5, .name = 1, .step = 1, .sequence = i});
        recorder.publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
    };
    const auto captured = [](std::int64_t step, std::int64_t at) {
        return CaptureDone{.step = step, .at = {at}, .duration = {100}, .firstStep = step, .steps = 1};
    };
    {
        auto recorder = open({});
        publish(*recorder, 1000, 4);
        recorder->publish(captured(1, 1500));
        recorder->publish(CheckpointSaved{1, {1600}, {7}, checkpoint(1)});
        publish(*recorder, 2000, 8);  // of one that did not come to its end
    }
    {
        auto recorder = open(Recorder::GoneOn{1, checkpoint(1)});
        ASSERT_NE(recorder, nullptr);
        publish(*recorder, 9000, 3);
        recorder->publish(captured(2, 9500));
    }
    const auto stored = storedCaptures(path, 1);
    ASSERT_TRUE(stored) << stored.error().sentence;
    ASSERT_EQ(stored->captures.size(), 2u);
    EXPECT_EQ(stored->captures[0].slices, 4) << "that came to its end stays";
    EXPECT_EQ(stored->captures[1].slices, 3);
    EXPECT_EQ(stored->captures[1].from.ns, 9000);
    const auto lanes = (*SessionReader::open(path))->chunkLanes(1);
    for (const ChunkLane& lane : *lanes)
        if (isSlices(lane.kind)) {
            EXPECT_EQ(lane.records, 7);
            EXPECT_EQ(lane.chunks, 2);
        }
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
