// An engine that outlives its line: the line is cut at any moment and nothing is lost and nothing happens twice, and whatever else becomes of engine
// or line is one sentence. Real processes; what stands in for ssh is the command itself. CTest.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "app/workbench/engine/EngineLine.h"
#include "app/workbench/engine/EngineQuestions.h"
#include "app/workbench/engine/SessionOfEngine.h"
#include "app/workbench/engine/StartWords.h"
#include "app/workbench/engine/detached/EngineFolder.h"
#include "app/workbench/engine/detached/Journal.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"
#include "tests/app/engine/DetachedFixture.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;
using test::Ear;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Detached : public test::DetachedRuns {};

// Speaks to an engine byte by byte, on a line of its own.
class Stranger {
public:
    explicit Stranger(const std::string& id) {
        auto line = EngineLine::start({STEPSCOPE_CLI, "engine", "--attach", id});
        if (line) m_line = std::move(*line);
    }
    void send(FrameType type, const FrameBytes& payload) { m_line->send(type, payload); }
    std::optional<Frame> next() {
        for (int i = 0; i < 100; ++i) {
            auto frame = m_line->next(milliseconds(200));
            if (!frame) return std::nullopt;
            if (*frame) return std::move(**frame);
        }
        return std::nullopt;
    }
    std::string refusal() {
        while (auto frame = next())
            if (frame->type == FrameType::Refused) return errorFromBytes(frame->payload).sentence;
        return {};
    }

private:
    std::unique_ptr<EngineLine> m_line;
};

TEST_F(Detached, TrainsTheSameRunAndIsStoredOnBothSides) {
    Ear here, there;
    ASSERT_EQ(start(asked(30, {}), here)->wait().state, RunState::Finished);
    const RunSummary apart = start(askedThere(30), there)->wait();
    ASSERT_EQ(apart.state, RunState::Finished) << apart.why;
    EXPECT_EQ(there.losses(), here.losses());
    ASSERT_EQ(storedThere().size(), 1u);
    EXPECT_EQ(storedThere()[0].state, RunState::Finished);
    EXPECT_EQ(storedLosses(defaultDatabasePath(), storedThere()[0].id), here.losses());
    EXPECT_EQ(storedLosses(path("sessions.db"), apart.session), here.losses());
    EXPECT_THAT(there.log(), Contains(HasSubstr("it is recorded there, too, as session 1")));
    waitUntilThereAreNone();
    EXPECT_TRUE(children().empty());
}

TEST_F(Detached, CutAtFiftyRandomMomentsLosesNothingAndTellsNothingTwice) {
    constexpr int kCuts = 50;
    Ear ear;
    RunRequest request = askedThere(1'000'000);
    request.capture = Capture{.steps = 200, .firstStep = 50};
    const auto run = start(request, ear);
    ASSERT_TRUE(ear.waitForStep(1));
    std::mt19937_64 random(20261125);
    const auto timesBack = [&ear] {
        const auto log = ear.log();
        return std::ranges::count(log, std::string("The line to the engine is there again."));
    };
    // Most lines are there again before they are cut, so that pauses stay short on a busy machine; every fifth may be cut while it is taken up.
    for (int cuts = 0; cuts < kCuts;) {
        std::this_thread::sleep_for(milliseconds(random() % 300));
        const auto back = timesBack();
        if (!cutLine()) continue;
        ++cuts;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (cuts % 5 != 0 && timesBack() == back && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(5));
    }
    const std::int64_t reached = ear.all<StepDone>().back().step;
    ASSERT_TRUE(ear.waitForStep(reached + 20));
    run->send(Stop{});
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Stopped) << summary.why;
    EXPECT_THAT(ear.log(), Contains(HasSubstr("The line to the engine has broken; the run goes on there. Trying again.")));

    // Of this run, what its own machine has; of any run, what one without a line has.
    const auto steps = ear.all<StepDone>();
    for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].step, static_cast<std::int64_t>(i) + 1);
    ASSERT_EQ(storedThere().size(), 1u);
    const std::int64_t there = storedThere()[0].id;
    EXPECT_EQ(storedLosses(defaultDatabasePath(), there), ear.losses());
    EXPECT_EQ(storedLosses(path("sessions.db"), summary.session), ear.losses());
    EXPECT_EQ(storedEvents<ValidationDone>(path("sessions.db"), summary.session).size(),
              storedEvents<ValidationDone>(defaultDatabasePath(), there).size());
    const auto lanesHere = toldLanes(path("sessions.db"), summary.session), lanesThere = toldLanes(defaultDatabasePath(), there);
    ASSERT_EQ(lanesHere.size(), lanesThere.size());
    ASSERT_FALSE(lanesHere.empty());
    for (std::size_t i = 0; i < lanesHere.size(); ++i) {
        EXPECT_EQ(lanesHere[i].kind, lanesThere[i].kind);
        EXPECT_EQ(lanesHere[i].chunks, lanesThere[i].chunks) << lanesHere[i].kind;
        EXPECT_EQ(lanesHere[i].records, lanesThere[i].records) << lanesHere[i].kind;
        EXPECT_EQ(lanesHere[i].bytes, lanesThere[i].bytes) << lanesHere[i].kind;
    }
    Ear uncut;
    const auto plain = start(asked(1'000'000, {}), uncut);
    const auto compared = static_cast<std::size_t>(std::min<std::int64_t>(reached, 3'000));
    ASSERT_TRUE(uncut.waitForStep(static_cast<std::int64_t>(compared)));
    plain->send(Stop{});
    (void)plain->wait();
    auto expected = uncut.losses(), heard = ear.losses();
    expected.resize(compared);
    heard.resize(compared);
    EXPECT_EQ(heard, expected);
    waitUntilThereAreNone();
}

TEST_F(Detached, GoesOnWithoutItsLineAndIsCaughtUpWith) {
    Ear ear;
    const auto run = start(askedThere(800), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const std::string id = onlyEngine();
    cutForLong();
    ASSERT_TRUE(ear.waitForLog("No route to host")) << "why the line cannot be taken up is told";
    const std::size_t heard = ear.losses().size();
    waitForEnd(id);
    ASSERT_EQ(storedThere().size(), 1u);
    EXPECT_EQ(storedThere()[0].state, RunState::Finished) << "it went on there, and to its end";
    ASSERT_LT(heard, 800u);
    mend();
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    ASSERT_EQ(ear.losses().size(), 800u);
    EXPECT_EQ(ear.losses(), storedLosses(defaultDatabasePath(), storedThere()[0].id));
    EXPECT_GT(summary.peakMemoryBytes, 0);
    // Who follows what is stored here reads on behind the newest that it has read.
    const TimeNs next = ear.all<StepDone>()[heard].at;
    for (const LogLine& line : ear.all<LogLine>())
        EXPECT_TRUE(!line.text.starts_with("The line to the engine") || line.at <= next) << line.text << " is said behind what was caught up with";
    waitUntilThereAreNone();
}

TEST_F(Detached, WhoAsksWhatIsThereIsToldWhatTrainsThere) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const auto found = EngineQuestions::findOut({STEPSCOPE_CLI, "engine"});
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_THAT(found->going, Contains(AllOf(HasSubstr(onlyEngine() + ": "), HasSubstr("session 1"))));
    EXPECT_FALSE(sessionOfEngine(path("sessions.db"), onlyEngine())) << "its window records it";
    run->send(Stop{});
    (void)run->wait();
    waitUntilThereAreNone();
    EXPECT_THAT(EngineQuestions::findOut({STEPSCOPE_CLI, "engine"})->going, IsEmpty());
}

TEST_F(Detached, AMachineThatSuddenlyPrintsABannerIsToldAndTriedAgain) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    std::ofstream(path("banner")) << "x";
    ASSERT_TRUE(cutLine());
    ASSERT_TRUE(ear.waitForLog("it began with \"Last login: today\""));
    std::filesystem::remove(path("banner"));
    ASSERT_TRUE(ear.waitForLog("The line to the engine is there again."));
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
    waitUntilThereAreNone();
}

TEST_F(Detached, ACommandGivenWhileTheLineIsCutIsCarriedOutOnceWhenItIsBack) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    cutForLong();
    ASSERT_TRUE(ear.waitForLog("No route to host"));
    run->send(Flip{"amp", std::string("bf16")});
    run->send(Flip{"amp", std::string("off")});
    mend();
    ASSERT_TRUE(ear.waitFor([](const Event& event) {
        const auto* applied = std::get_if<SwitchApplied>(&event);
        return applied != nullptr && applied->to == Value{std::string("off")};
    }));
    cutLine();
    ASSERT_TRUE(ear.waitForStep(ear.all<StepDone>().back().step + 20));
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
    EXPECT_EQ(ear.all<SwitchApplied>().size(), 2u);
}

TEST_F(Detached, StoppedWhileTheLineIsCutSaysThatTheRunGoesOnAndHowToReachIt) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const std::string id = onlyEngine();
    cutForLong();
    ASSERT_TRUE(ear.waitForLog("No route to host"));
    run->send(Stop{});
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Stopped);
    EXPECT_THAT(ear.log(), Contains(AllOf(HasSubstr("it goes on there"), HasSubstr("engine --list"), HasSubstr("engine --stop " + id))));
    ASSERT_EQ(listEngines().size(), 1u);
    EXPECT_TRUE(listEngines()[0].lives);
    EXPECT_THAT(listEngines()[0].description, HasSubstr("session 1"));
    ASSERT_EQ(std::system(("'" STEPSCOPE_CLI "' engine --list | grep -q '" + id + "  lives  session 1'").c_str()), 0);
    ASSERT_EQ(std::system(("'" STEPSCOPE_CLI "' engine --stop " + id).c_str()), 0);
    waitForEnd(id);
    EXPECT_EQ(storedThere().at(0).state, RunState::Stopped);
    ASSERT_EQ(listEngines().size(), 1u) << "what nobody has fetched is kept";
    EXPECT_FALSE(listEngines()[0].heard);
    ASSERT_EQ(std::system(("'" STEPSCOPE_CLI "' engine --forget " + id).c_str()), 0);
    EXPECT_THAT(listEngines(), IsEmpty());
}

TEST_F(Detached, OneThatWasKilledLeavesAllThatItSaid) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(5));
    const std::string id = onlyEngine();
    cutForLong();
    ASSERT_TRUE(ear.waitForLog("No route to host"));
    const std::size_t before = ear.losses().size();
    std::this_thread::sleep_for(milliseconds(500));
    killEngine(id);
    mend();
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, AllOf(HasSubstr("The engine " + id), HasSubstr("ended before its run was over")));
    EXPECT_GT(ear.losses().size(), before);
    const auto there = storedLosses(defaultDatabasePath(), storedThere().at(0).id);
    ASSERT_GE(ear.losses().size(), there.size()) << "the journal is ahead of its recorder";
    auto heard = ear.losses();
    heard.resize(there.size());
    EXPECT_EQ(heard, there);
    EXPECT_EQ(storedLosses(path("sessions.db"), summary.session), ear.losses());
    waitUntilThereAreNone();
}

TEST_F(Detached, TheNewerOfTwoLinesHasItAndTheOtherIsTold) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const std::string id = onlyEngine();
    Stranger other(id);
    other.send(FrameType::Attach, attachToBytes({0}));
    for (const FrameType expected : {FrameType::Hello, FrameType::Attached, FrameType::Event}) {
        const auto frame = other.next();
        ASSERT_TRUE(frame);
        ASSERT_EQ(frame->type, expected);
        const bool event = frame->type == FrameType::Event;
        EXPECT_TRUE(!event || eventFromBytes(frame->payload)->number == 1u) << "it is told all from the beginning";
    }
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, AllOf(HasSubstr("Another program has taken up the line"), HasSubstr("the run goes on there")));
    EXPECT_TRUE(EngineFolder::open(id)->engine());
}

TEST_F(Detached, WhateverAStrangerSaysOnALineHurtsNobody) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const std::string id = onlyEngine();
    const auto refused = [&](FrameType type, const FrameBytes& payload) {
        Stranger stranger(id);
        stranger.send(type, payload);
        return stranger.refusal();
    };
    EXPECT_THAT(refused(FrameType::Attach, attachToBytes({1'000'000'000})), HasSubstr("The other side has heard event 1000000000 of this engine"));
    EXPECT_THAT(refused(FrameType::Attach, {std::byte{0x80}}), HasSubstr("damaged at byte 1"));
    EXPECT_THAT(refused(FrameType::Safe, safeToBytes({.number = 1, .all = true})), HasSubstr("has its run already"));
    EXPECT_THAT(refused(FrameType::Start, startToBytes(asked(1))), HasSubstr("has its run already"));
    EXPECT_THAT(refused(FrameType::Summary, {}), HasSubstr("has its run already"));
    Stranger none("0123456789abcdef");
    EXPECT_THAT(none.refusal(), HasSubstr("There is no engine 0123456789abcdef"));
    Stranger odd("../../etc");
    EXPECT_THAT(odd.refusal(), HasSubstr("\"../../etc\" is no engine's name"));
    ASSERT_TRUE(ear.waitForStep(ear.all<StepDone>().back().step + 20)) << "the run and its line have not noticed";
    run->send(Stop{});
    EXPECT_EQ(run->wait().state, RunState::Stopped);
    EXPECT_THAT(ear.log(), Not(Contains(HasSubstr("has broken"))));
}

TEST_F(Detached, AnEngineOfAnotherVersionIsNamedWhenItsLineIsTakenUp) {
    Ear ear;
    const auto run = start(askedThere(1'000'000), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    const std::string id = onlyEngine();
    cutForLong();
    ASSERT_TRUE(ear.waitForLog("No route to host"));
    killEngine(id);
    Hello other = engineHello({});
    other.program = "9.8.7";
    const FrameBytes frame = frameOf(FrameType::Hello, helloToBytes(other));
    std::ofstream(EngineFolder::open(id)->file(kEngineHello), std::ios::binary)
        .write(reinterpret_cast<const char*>(frame.data()), static_cast<std::streamsize>(frame.size()));
    mend();
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("Stepscope 9.8.7 (protocol " + std::to_string(kWireVersion) + ") and this program is Stepscope"));
}

TEST_F(Detached, OneThatIsAskedForNoRunEndsWithItsLine) {
    auto line = EngineLine::start({STEPSCOPE_CLI, "engine", "--detach"});
    ASSERT_TRUE(line);
    std::optional<Frame> first;
    for (int i = 0; i < 100 && !first; ++i) first = (*line)->next(milliseconds(200)).value();
    ASSERT_TRUE(first);
    const auto hello = engineHelloFrom(*first);
    ASSERT_TRUE(hello) << hello.error().sentence;
    EXPECT_EQ(hello->engine, onlyEngine());
    struct stat status {};
    ASSERT_EQ(::stat(EngineFolder::open(hello->engine)->path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    (*line)->end();
    waitUntilThereAreNone();
}

TEST_F(Detached, AnEngineOfAnotherMachineThatSharesTheFolderIsNamed) {
    const auto folder = EngineFolder::make();
    ASSERT_TRUE(folder);
    std::ofstream(folder->file("lock")) << "1 elsewhere";
    EXPECT_THAT(Stranger(folder->id()).refusal(), HasSubstr("is one of elsewhere, and this is " + hostName()));
    EXPECT_EQ(folder->engine(), 0);
    ASSERT_NE(std::system(("'" STEPSCOPE_CLI "' engine --stop " + folder->id() + " 2>/dev/null").c_str()), 0);
}

// By who lists engines, as every engine does that is started: one such folder kept all of them waiting for ever.
TEST_F(Detached, PipesInTheFolderOfAnEngineAreNotWaitedFor) {
    for (const char* name : {"about", "lock", "heard", "hello"}) {
        const auto folder = EngineFolder::make();
        ASSERT_TRUE(folder);
        Journal::create(folder->path()).value()->append(FrameType::Event, {std::byte{1}}, 1);
        ASSERT_EQ(::mkfifo(folder->file(name).c_str(), 0600), 0);
        const std::string program = "timeout 20 '" STEPSCOPE_CLI "' engine ";
        const int listed = std::system((program + "--list >/dev/null").c_str());
        const int attached = std::system((program + "--attach " + folder->id() + " </dev/null >/dev/null 2>&1").c_str());
        folder->remove();  // this process lists them, too, when the test is over
        EXPECT_EQ(listed, 0) << name;
        EXPECT_TRUE(WIFEXITED(attached) && WEXITSTATUS(attached) != 124) << name << " is waited for: " << attached;
    }
}

TEST_F(Detached, FoldersOfDaysAgoWithNothingToTellAreRemovedAndNoOthers) {
    const auto old = EngineFolder::make(), told = EngineFolder::make(), lives = EngineFolder::make(), fresh = EngineFolder::make();
    ASSERT_TRUE(old && told && lives && fresh);
    Journal::create(told->path()).value()->append(FrameType::Event, {std::byte{1}}, 1);
    const auto lock = lives->lock();
    ASSERT_TRUE(lock);
    for (const auto* folder : {&*old, &*told, &*lives})
        std::filesystem::last_write_time(folder->path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(8 * 24));
    removeOldEngines();
    std::vector<std::string> left;
    for (const ListedEngine& one : listEngines()) left.push_back(one.id);
    EXPECT_THAT(left, UnorderedElementsAre(told->id(), lives->id(), fresh->id()));
    std::filesystem::remove_all(lives->path());  // it is this process that "lives" there
}

TEST_F(Detached, AFullDiskThereIsToldAndLosesNothing) {
    Ear ear;
    // Of the journal, 16 kB at most.
    RunRequest request = asked(300, {"sh", "-c", "ulimit -f 32; exec '" STEPSCOPE_CLI "' engine --detach"});
    request.record = false;
    const RunSummary summary = start(std::move(request), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    EXPECT_EQ(ear.losses().size(), 300u);
    EXPECT_THAT(ear.log(), Contains(AllOf(HasSubstr("What the engine says cannot be kept in"), HasSubstr("File too large"))));
    waitUntilThereAreNone();
}

TEST_F(Detached, AMachineWhereItCannotKeepAnythingIsOneSentence) {
    Ear ear;
    const RunSummary summary = start(asked(3, {"env", "XDG_DATA_HOME=/proc/self/nowhere", STEPSCOPE_CLI, "engine", "--detach"}), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("The engine's folder \"/proc/self/nowhere/stepscope/engines/"));
}

TEST_F(Detached, WhatOnlyDetachStartsIsNothingForAPerson) {
    Ear ear;
    const std::string shell = "'" STEPSCOPE_CLI "' engine --own 0123456789abcdef";
    const RunSummary summary = failedWith(shell, ear);
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("engine --own is for engine --detach alone"));
}

TEST_F(Detached, ADatabaseHereThatCannotBeOpenedLeavesNoRunThere) {
    std::ofstream(path("sessions.db")) << std::string(5000, 'x');
    Ear ear;
    const RunSummary summary = start(askedThere(30), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_EQ(ear.all<StateChanged>().back().subject.kind, Subject::Kind::Database);
    EXPECT_THAT(storedThere(), IsEmpty());
}

TEST_F(Detached, UnrecordedItIsStoredNowhereAndHeardAllTheSame) {
    Ear ear;
    RunRequest request = askedThere(300);
    request.record = false;
    const auto run = start(std::move(request), ear);
    ASSERT_TRUE(ear.waitForStep(3));
    cutLine();
    const RunSummary summary = run->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    EXPECT_EQ(ear.losses().size(), 300u);
    EXPECT_THAT(storedThere(), IsEmpty());
    waitUntilThereAreNone();
}

}  // namespace
}  // namespace stepscope
