// A run that is trained by the command line's program as a process of its own: the same run as in this process, whatever becomes of that process, and
// one sentence for whatever else may answer in its place. Real processes. CTest.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/RunRecorder.h"
#include "app/workbench/engine/EngineLine.h"
#include "app/workbench/engine/StartWords.h"
#include "sessions/wire/Hello.h"
#include "tests/app/engine/EngineFixture.h"

namespace stepscope {
namespace {

using test::Ear;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class EngineApart : public test::EngineRuns {};

TEST_F(EngineApart, TrainsTheSameRunAsThisProcessBitForBit) {
    Ear here, there;
    const RunSummary own = start(asked(20, {}), here)->wait();
    const RunSummary apart = start(asked(20), there)->wait();
    ASSERT_EQ(own.state, RunState::Finished) << own.why;
    ASSERT_EQ(apart.state, RunState::Finished) << apart.why;
    ASSERT_EQ(here.losses().size(), 20u);
    EXPECT_EQ(there.losses(), here.losses());
    ASSERT_EQ(there.all<ValidationDone>().size(), here.all<ValidationDone>().size());
    for (std::size_t i = 0; i < here.all<ValidationDone>().size(); ++i)
        EXPECT_EQ(there.all<ValidationDone>()[i].loss, here.all<ValidationDone>()[i].loss);
    EXPECT_EQ(apart.lossLast, own.lossLast);
    EXPECT_EQ(apart.steps, 20);
    EXPECT_GT(apart.peakMemoryBytes, 0) << "of the other process";
    EXPECT_TRUE(children().empty());
}

TEST_F(EngineApart, ASessionThatAnotherMachineTrainedIsStoredWithItsName) {
    Ear ear;
    RunRequest request = asked(3);
    request.engineElsewhere = true;
    const RunSummary summary = start(request, ear)->wait();
    ASSERT_EQ(summary.state, RunState::Finished) << summary.why;
    std::string own(256, '\0');
    ASSERT_EQ(::gethostname(own.data(), own.size()), 0);
    own = own.c_str();
    ASSERT_EQ(stored().size(), 1u);
    EXPECT_EQ(stored()[0].host, own);
    EXPECT_EQ(ear.all<SessionStarted>()[0].info->machine->host, own);
    const auto reader = SessionReader::open(path("sessions.db"));
    ASSERT_TRUE(reader);
    EXPECT_EQ((*reader)->info(summary.session)->machine->host, own);
}

TEST_F(EngineApart, ItsSessionIsStoredHereAsItWasTold) {
    Ear ear;
    RunRequest request = asked(12);
    request.name = "told";
    request.tags = {"apart"};
    const RunSummary summary = start(request, ear)->wait();
    ASSERT_EQ(summary.state, RunState::Finished) << summary.why;
    ASSERT_EQ(ear.all<SessionStarted>().size(), 1u);
    EXPECT_EQ(ear.all<SessionStarted>()[0].session, summary.session);
    const auto rows = stored();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].id, summary.session);
    EXPECT_EQ(rows[0].name, "told");
    EXPECT_EQ(rows[0].state, RunState::Finished);
    EXPECT_EQ(rows[0].steps, 12);
    EXPECT_THAT(rows[0].host, IsEmpty()) << "this machine";
    const auto states = ear.all<StateChanged>();
    EXPECT_EQ(std::ranges::count(states, RunState::Preparing, &StateChanged::state), 1) << "told once, when it was started";
    EXPECT_EQ(states.back().state, RunState::Finished);
}

// When its data were there, by the clock of the engine and by that of the day here, and when its session says that it began.
class HeardBeginning final : public EventSink {
public:
    void publish(Event event) override {
        if (const auto* preparing = std::get_if<Preparing>(&event); preparing && preparing->what == "building the model") {
            at = preparing->at.ns / 1'000'000;
            heard = unixMillisecondsNow();
        }
        if (const auto* began = std::get_if<SessionStarted>(&event)) started = began->info->startedUnixMs;
    }
    std::int64_t at = 0, heard = 0, started = 0;  // ms
};

TEST_F(EngineApart, ItsSessionBeginsWithTheClockOfTheEngineBeforeItsPreparation) {
    std::ofstream(path("long.txt")) << std::string(4'000'000, 'a');
    RunRequest request = asked(1);
    request.config.data = path("long.txt");
    request.config.validationFraction = 0;
    HeardBeginning heard;
    auto run = workbench->start(std::move(request), heard);
    ASSERT_TRUE(run) << run.error().sentence;
    ASSERT_EQ((*run)->wait().state, RunState::Finished);
    ASSERT_GT(heard.at, 1) << "ms, in which the text was read";
    // As late as a frame takes, and not as late as the preparation took.
    EXPECT_LT(heard.started + heard.at - heard.heard, heard.at / 2);
}

TEST_F(EngineApart, TakesCommandsAndKeepsItsCheckpointsWithItsSession) {
    Ear ear;
    const auto run = start(asked(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    run->send(Pause{});
    const auto paused = [](const Event& event) {
        const auto* changed = std::get_if<StateChanged>(&event);
        return changed != nullptr && changed->state == RunState::Paused;
    };
    ASSERT_TRUE(ear.waitFor(paused));
    run->send(Flip{"amp", std::string("bf16")});
    run->send(SaveCheckpoint{});
    run->send(Resume{});
    ASSERT_TRUE(ear.waitFor([](const Event& event) { return std::holds_alternative<CheckpointSaved>(event); }));
    const std::int64_t reached = ear.all<CheckpointSaved>()[0].step;
    ASSERT_TRUE(ear.waitForStep(reached + 3));
    run->send(Stop{});
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Stopped);
    ASSERT_EQ(ear.all<SwitchApplied>().size(), 1u);
    EXPECT_EQ(ear.all<SwitchApplied>()[0].to, Value{std::string("bf16")});
    const auto newest = newestCheckpoint(path("sessions.db"), summary.session);
    ASSERT_TRUE(newest) << newest.error().sentence;

    Ear again;
    RunRequest resumed = asked(reached + 5);
    resumed.resume = *newest;
    resumed.config.switches["amp"] = std::string("bf16");
    const RunSummary goneOn = start(resumed, again)->wait();
    ASSERT_EQ(goneOn.state, RunState::Finished) << goneOn.why;
    EXPECT_EQ(again.all<StepDone>().front().step, reached + 1);
}

TEST_F(EngineApart, ACommandThatNoFrameCanHoldIsLeftOutWithOneSentenceAndTheRunGoesOn) {
    Ear ear;
    const auto run = start(asked(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(2));
    run->send(GenerateText{.prompt = std::string(kMostFrameBytes, 'x')});
    EXPECT_TRUE(ear.waitForLog("What the run was asked for takes"));
    run->send(ValidateNow{});
    EXPECT_TRUE(ear.waitFor([](const Event& event) { return std::holds_alternative<ValidationDone>(event); })) << "no command is missing there";
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
}

TEST(EngineLine, WhatNoFrameCanHoldIsOneSentenceForWhoReads) {
    const auto line = EngineLine::start({"cat"});
    ASSERT_TRUE(line) << line.error().sentence;
    (*line)->send(FrameType::Start, FrameBytes(kMostFrameBytes + 1));
    const auto heard = (*line)->next(std::chrono::seconds(10));
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, ErrorCode::Unsupported);
    EXPECT_THAT(heard.error().sentence, HasSubstr("What the engine is to hear takes"));
}

// When a line that has broken is taken up again this thread blocks the signal, and where workers have met in this process all of it ignores it.
TEST(EngineLine, ItsCommandIsEndedByABrokenPipeAsOneInAShellIs) {
    const BrokenPipesAreTold told;
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const auto line = EngineLine::start({"sh", "-c", "kill -PIPE $$; echo lives >&2"});
    std::signal(SIGPIPE, before);
    ASSERT_TRUE(line) << line.error().sentence;
    const auto heard = (*line)->next(std::chrono::seconds(10));
    ASSERT_FALSE(heard);
    EXPECT_THAT(heard.error().sentence, HasSubstr("was ended by signal 13"));
}

TEST_F(EngineApart, BulkDataOfACaptureCrosses) {
    Ear ear;
    RunRequest request = asked(6);
    request.capture = Capture{.steps = 1, .firstStep = 3};
    const RunSummary summary = start(request, ear)->wait();
    ASSERT_EQ(summary.state, RunState::Finished) << summary.why;
    ASSERT_EQ(summary.captures.size(), 1u);
    ASSERT_NE(summary.captures[0].rows, nullptr);
    EXPECT_FALSE(summary.captures[0].rows->empty());
    EXPECT_GT(ear.chunks(), 0u);
}

TEST_F(EngineApart, KilledInTheMiddleIsAFailedSessionWithWhatWasSeenAndTheNextRunWorks) {
    Ear ear;
    const auto run = start(asked(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(5));
    ASSERT_EQ(children().size(), 1u);
    ::kill(children()[0], SIGKILL);
    const RunSummary summary = run->wait();
    EXPECT_TRUE(run->done());
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("The engine was ended by signal 9 (Killed)"));
    EXPECT_TRUE(children().empty());
    const auto rows = stored();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].state, RunState::Failed);
    EXPECT_EQ(rows[0].steps, ear.all<StepDone>().back().step) << "all that was seen is stored";
    EXPECT_THAT(ear.log(), Contains(summary.why));

    Ear next;
    const RunSummary second = start(asked(4), next)->wait();
    EXPECT_EQ(second.state, RunState::Finished) << second.why;
    EXPECT_NE(second.session, summary.session);
    EXPECT_EQ(second.steps, 4);
}

TEST_F(EngineApart, OneThatHangsIsEndedSomeTimeAfterStopHoweverMuchIsWrittenBesideIt) {
    Ear ear;
    const std::string flooded = std::string("(yes 'a driver in a loop of errors' >&2 &); exec '") + STEPSCOPE_CLI + "' engine";
    RunRequest request = asked(1'000'000, {"sh", "-c", flooded});
    request.engineSilence = std::chrono::milliseconds(1'200);
    const auto run = start(std::move(request), ear);
    ASSERT_TRUE(ear.waitForStep(5));
    ASSERT_EQ(children().size(), 1u);
    ::kill(children()[0], SIGSTOP);
    run->send(Stop{});
    ASSERT_TRUE(ear.waitForLog("The engine has not answered to Stop"));
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, StartsWith("The engine did not stop: nothing has come from it for"));
    EXPECT_TRUE(children().empty());
    const auto rows = stored();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].steps, ear.all<StepDone>().back().step) << "all that was seen is stored";
}

TEST_F(EngineApart, IsStoppedWithTheRunThatIsLetGoOf) {
    Ear ear;
    auto run = start(asked(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(2));
    run.reset();
    EXPECT_TRUE(children().empty());
    EXPECT_EQ(stored().at(0).state, RunState::Stopped);
}

TEST_F(EngineApart, WhatATerminalTellsItsProcessesIsNotMeantForIt) {
    Ear ear;
    const auto run = start(asked(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    ASSERT_EQ(children().size(), 1u);
    const pid_t engine = children()[0];
    EXPECT_EQ(::getsid(engine), engine) << "it leads a session of its own";
    ::kill(engine, SIGHUP);
    EXPECT_TRUE(ear.waitForStep(ear.all<StepDone>().back().step + 20)) << "a terminal that is closed does not end it";
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
}

TEST_F(EngineApart, WhatItCannotTrainIsToldAsByThisProcess) {
    Ear ear;
    RunRequest request = asked(3);
    request.config.data = path("nowhere.txt");
    const RunSummary summary = start(request, ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("nowhere.txt"));
    ASSERT_FALSE(ear.all<StateChanged>().empty());
    EXPECT_EQ(ear.all<StateChanged>().back().subject.kind, Subject::Kind::Data);
    EXPECT_THAT(stored(), IsEmpty()) << "a run that cannot be prepared leaves no session";
}

TEST_F(EngineApart, ADatabaseHereThatCannotBeOpenedIsNamed) {
    std::ofstream(path("sessions.db")) << std::string(5000, 'x');
    Ear ear;
    const RunSummary summary = start(asked(3), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_EQ(ear.all<StateChanged>().back().subject.kind, Subject::Kind::Database) << "so that the window can offer to run without it";
    EXPECT_THAT(summary.why, HasSubstr("sessions.db"));
    Ear without;
    RunRequest unrecorded = asked(3);
    unrecorded.record = false;
    EXPECT_EQ(start(unrecorded, without)->wait().state, RunState::Finished);
    EXPECT_EQ(without.losses().size(), 3u);
}

TEST_F(EngineApart, CheckpointsThatCannotFitTheDiskHereLeaveNoSession) {
    Ear ear;
    RunRequest request = asked(1'000'000'000'000);
    request.config.checkpointEvery = 1;
    const RunSummary summary = start(request, ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, AllOf(HasSubstr("The checkpoints of this run need"), HasSubstr(path("sessions.db"))));
    EXPECT_THAT(ear.all<StateChanged>().back().subject.name, "keep");
    EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(EngineApart, AProgramThatIsNotThereIsRefusedBeforeAnythingBegins) {
    Ear ear;
    const auto started = workbench->start(asked(3, {path("stepscope-cli"), "engine"}), ear);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::NotFound);
    EXPECT_THAT(started.error().sentence, AllOf(HasSubstr("The engine cannot be started"), HasSubstr(path("stepscope-cli"))));
}

TEST_F(EngineApart, WhateverElseAnswersIsOneSentence) {
    const std::string engine = std::string("'") + STEPSCOPE_CLI + "' engine </dev/null";
    Hello other = engineHello({});
    other.program = "9.8.7";
    FrameBytes unset = frameOf(FrameType::Hello, helloToBytes(engineHello({})));
    const FrameBytes kept = frameOf(FrameType::Keep, askedToBytes({.info = {}, .now = {}}));
    unset.insert(unset.end(), kept.begin(), kept.end());
    const std::vector<std::pair<std::string, std::string>> all{
        {"echo 'Last login: today'; cat >/dev/null", "is no engine of Stepscope: it began with \"Last login: today\""},
        {"echo 'Permission denied (publickey).' >&2; exit 255", "The engine ended with status 255: Permission denied (publickey)."},
        {"exit 0", "The engine ended with status 0."},
        {engine + " | head -c 20", "in the middle of what it said"},
        {engine + "; echo garbage; cat >/dev/null", "damaged at byte "},
        {shellFile("other", frameOf(FrameType::Hello, helloToBytes(other))),
         "Stepscope 9.8.7 (protocol " + std::to_string(kWireVersion) + ") and this program is Stepscope"},
        {shellFile("unset", unset), "asked to keep a session without settings that can be"},
        {shellFile("event", frameOf(FrameType::Summary, {})), "its first frame does not say who it is"}};
    for (const auto& [shell, sentence] : all) {
        Ear ear;
        const RunSummary summary = failedWith(shell, ear);
        EXPECT_EQ(summary.state, RunState::Failed) << shell;
        EXPECT_THAT(summary.why, HasSubstr(sentence)) << shell;
        EXPECT_EQ(std::ranges::count(summary.why, '\n'), 0) << shell;
        EXPECT_EQ(ear.all<StateChanged>().back().state, RunState::Failed) << shell;
    }
    EXPECT_THAT(stored(), IsEmpty());
    EXPECT_TRUE(children().empty());
}

TEST_F(EngineApart, WhatALibraryPrintsToStdoutDisturbsNoFrame) {
    const std::string shell = std::string("exec env TALKING_STDOUT=1 LD_PRELOAD='") + STEPSCOPE_TALKING_LIBRARY + "' '" + STEPSCOPE_CLI + "' engine";
    Ear ear;
    const RunSummary summary = start(asked(3, {"sh", "-c", shell}), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    EXPECT_EQ(ear.losses().size(), 3u);
}

TEST_F(EngineApart, OneThatNeverAnswersCanBeStopped) {
    Ear ear;
    const auto run = start(asked(3, {"sh", "-c", "cat >/dev/null"}), ear);
    run->send(Stop{});
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Stopped);
    EXPECT_TRUE(children().empty());
}

// As an ssh that asks for a password where nobody sees it.
TEST_F(EngineApart, OneWhoseCommandWaitsForSomebodyIsGivenUpWithThatCommand) {
    Ear ear;
    RunRequest request = asked(3, {"sh", "-c", "printf 'Password: ' >&2; cat >/dev/null"});
    EXPECT_EQ(request.engineGreeting, std::chrono::seconds(120));
    request.engineGreeting = std::chrono::seconds(2);
    const RunSummary summary = start(std::move(request), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_EQ(summary.why,
              "The engine has not said who it is within 2 seconds; does \"sh -c printf 'Password: ' >&2; cat >/dev/null\" wait for somebody?");
    EXPECT_THAT(stored(), IsEmpty());
    EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace stepscope
