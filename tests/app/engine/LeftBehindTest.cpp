// A run that a window which was killed has left behind: its engine trains on, and the next window takes it up as the same session, or fetches what
// the engine said to its end. Real processes; the window that is killed is this test, which stores what it hears and goes. CTest.
#include <gmock/gmock.h>

#include "app/workbench/engine/EngineLine.h"
#include "app/workbench/engine/EngineQuestions.h"
#include "app/workbench/engine/SessionOfEngine.h"
#include "app/workbench/engine/StartWords.h"
#include "sessions/record/Recorder.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"
#include "tests/app/engine/DetachedFixture.h"

namespace stepscope {
namespace {

using test::Ear;
using ::testing::Contains;
using ::testing::HasSubstr;

class LeftBehind : public test::DetachedRuns {
protected:
    // What a window leaves that is killed at that step: a session without an end, of which the engine knows that the first half is stored. Its
    // engine.
    std::string leftBehind(const RunRequest& request, std::int64_t killedAt) const {
        auto line = EngineLine::start(request.engine).value();
        std::string engine;
        std::unique_ptr<Recorder> recorder;
        std::int64_t step = 0;
        line->send(FrameType::Start, startToBytes(request));
        while (step < killedAt) {
            const auto frame = line->next(std::chrono::milliseconds(200));
            if (!frame) {
                ADD_FAILURE() << frame.error().sentence;
                break;
            }
            if (!*frame) continue;
            const FrameBytes& payload = (*frame)->payload;
            switch ((*frame)->type) {
                case FrameType::Hello:
                    engine = engineHelloFrom(**frame)->engine;
                    break;
                case FrameType::Keep: {
                    Recorder::Options options;
                    options.path = request.database;
                    auto opened = Recorder::open(std::move(options), askedFromBytes(payload)->info);
                    EXPECT_TRUE(opened) << opened.error().sentence;
                    recorder = std::move(*opened);
                    line->send(FrameType::Kept, placeToBytes({.session = recorder->session(), .checkpointFolder = {}}));
                    break;
                }
                case FrameType::Chunk:
                    recorder->publishChunk(std::make_shared<const Chunk>(chunkFromBytes(payload)->chunk));
                    break;
                case FrameType::Event: {
                    auto one = eventFromBytes(payload).value();
                    if (!recorder) break;
                    if (std::holds_alternative<SessionStarted>(one.event)) {
                        recorder->publish(LogLine{{1}, 0, LogLevel::Info, "The run is trained on a rack " + byEngine(engine)});
                        break;
                    }
                    if (const auto* done = std::get_if<StepDone>(&one.event)) step = done->step;
                    const bool half = step == killedAt / 2 && std::holds_alternative<StepDone>(one.event);
                    recorder->publish(std::move(one.event));
                    if (half) line->send(FrameType::Safe, safeToBytes({.number = one.number}));
                    break;
                }
                default:
                    ADD_FAILURE() << static_cast<int>((*frame)->type);
            }
        }
        return engine;
    }
    RunRequest takingUp(const RunRequest& request, const std::string& engine) const {
        RunRequest again;
        again.database = request.database;
        again.engine = request.engine;
        again.enginePause = request.enginePause;
        again.engineTakenUp = engine;
        const auto left = sessionOfEngine(request.database, engine);
        EXPECT_TRUE(left);
        if (!left) return again;
        again.sessionTakenUp = left->session;
        again.config = left->config;
        return again;
    }
    // Every step once, from the first on, here and in what is stored here.
    void expectWhole(const Ear& ear, std::int64_t session) const {
        const auto steps = ear.all<StepDone>();
        for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
        ASSERT_EQ(storedThere().size(), 1u);
        const std::int64_t there = storedThere()[0].id;
        EXPECT_EQ(storedLosses(defaultDatabasePath(), there), ear.losses());
        EXPECT_EQ(storedLosses(path("sessions.db"), session), ear.losses());
        EXPECT_EQ(storedEvents<ValidationDone>(path("sessions.db"), session).size(),
                  storedEvents<ValidationDone>(defaultDatabasePath(), there).size());
        EXPECT_EQ(storedEvents<SwitchApplied>(path("sessions.db"), session).size(), storedEvents<SwitchApplied>(defaultDatabasePath(), there).size());
    }
};

TEST_F(LeftBehind, WhatAKilledWindowLeftBehindGoesOnInTheNextOneAsTheSameSession) {
    const RunRequest request = askedThere(1'000'000);
    const std::string id = leftBehind(request, 40);
    ASSERT_EQ(stored().size(), 1u);
    ASSERT_EQ(stored()[0].state, RunState::Interrupted);
    Ear ear;
    const auto run = start(takingUp(request, id), ear);
    ASSERT_TRUE(ear.waitForStep(100));
    run->send(Flip{"amp", std::string("bf16")});
    ASSERT_TRUE(ear.waitFor([](const Event& event) { return std::holds_alternative<SwitchApplied>(event); })) << "it takes commands";
    cutLine();
    ASSERT_TRUE(ear.waitForLog("The line to the engine is there again.")) << "and outlives its line as before";
    run->send(Stop{});
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Stopped) << summary.why;
    EXPECT_EQ(summary.session, 1);
    EXPECT_THAT(ear.log(), Contains(HasSubstr("Another window has taken up the run, which engine " + id)));
    expectWhole(ear, 1);
    ASSERT_EQ(stored().size(), 1u) << "no other session was begun";
    EXPECT_EQ(stored()[0].state, RunState::Stopped);
    waitUntilThereAreNone();
}

TEST_F(LeftBehind, WhatItsEngineSaidToItsEndIsFetchedByTheNextWindow) {
    const RunRequest request = askedThere(300);
    const std::string id = leftBehind(request, 10);
    waitForEnd(id);
    const auto found = EngineQuestions::findOut({STEPSCOPE_CLI, "engine"});
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_THAT(found->going, Contains(HasSubstr(id + ", which has ended: session 1")));
    Ear ear;
    const RunSummary summary = start(takingUp(request, id), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    EXPECT_EQ(ear.losses().size(), 300u);
    expectWhole(ear, 1);
    EXPECT_EQ(stored().at(0).state, RunState::Finished);
    waitUntilThereAreNone();
}

TEST_F(LeftBehind, ASessionThatCannotGoOnIsLeftAsItWas) {
    const RunRequest request = askedThere(1'000'000);
    const std::string id = leftBehind(request, 6);
    const std::size_t before = storedLosses(path("sessions.db"), 1).size();
    const auto refused = [&](RunRequest again) {
        Ear ear;
        const auto run = start(std::move(again), ear);
        const RunSummary summary = run->wait();
        EXPECT_EQ(summary.state, RunState::Failed);
        EXPECT_EQ(stored().at(0).state, RunState::Interrupted);
        EXPECT_EQ(storedLosses(path("sessions.db"), 1).size(), before);
        return summary.why;
    };
    RunRequest none = takingUp(request, id);
    none.engineTakenUp = "0123456789abcdef";
    EXPECT_THAT(refused(none), HasSubstr("There is no engine 0123456789abcdef"));
    RunRequest unknown = takingUp(request, id);
    unknown.sessionTakenUp = 7;
    EXPECT_THAT(refused(unknown), HasSubstr("no session 7"));
    RunRequest ends = takingUp(request, id);
    ends.engine = {STEPSCOPE_CLI, "engine"};
    Ear ear;
    const auto started = workbench->start(std::move(ends), ear);
    ASSERT_FALSE(started);
    EXPECT_THAT(started.error().sentence, HasSubstr("has no --detach"));
}

}  // namespace
}  // namespace stepscope
