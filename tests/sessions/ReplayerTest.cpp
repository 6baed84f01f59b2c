// A replay publishes what the live run published, at the speed and from the place that is asked for.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <thread>

#include "sessions/Replayer.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

constexpr double kAtOnce = std::numeric_limits<double>::infinity();

struct ReplayerTest : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");
    KeepingSink sink;

    // `steps` steps, one every 10 ms of the session's time, beginning at 10 ms.
    void record(int steps) {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        for (int step = 1; step <= steps; ++step) (*recorder)->publish(sampleStep(step, {step * 10'000'000LL}));
        ASSERT_TRUE((*recorder)->finish());
    }
    std::unique_ptr<Replayer> open() {
        auto replayer = Replayer::open(path, 1, sink);
        EXPECT_TRUE(replayer) << replayer.error().sentence;
        return std::move(*replayer);
    }
    std::vector<std::int64_t> published() const { return stepsOf(sink.events()); }
    std::size_t starts() const {
        std::size_t n = 0;
        for (const auto& event : sink.events()) n += std::holds_alternative<SessionStarted>(event);
        return n;
    }
};

// By this process, of any file.
std::int64_t bytesRead() {
    std::ifstream io("/proc/self/io");
    std::string word;
    std::int64_t bytes = 0;
    io >> word >> bytes;
    return bytes;
}

std::vector<std::int64_t> upTo(std::int64_t last) {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= last; ++n) all.push_back(n);
    return all;
}

}  // namespace

TEST_F(ReplayerTest, PublishesExactlyWhatIsStored) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    for (const auto& event : oneOfEachKind()) (*recorder)->publish(event);
    ASSERT_TRUE((*recorder)->finish());
    const auto replayer = open();
    replayer->seekEnd();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    EXPECT_EQ(asText(sink.events()), asText(storedEvents(path, 1)));
}

TEST_F(ReplayerTest, StartsPausedAtTheBeginning) {
    record(100);
    const auto replayer = open();
    ASSERT_EQ(sink.events().size(), 1u) << "at once, before anything is asked";
    const auto started = std::get<SessionStarted>(sink.events().front());
    EXPECT_TRUE(started.replay);
    EXPECT_EQ(started.session, 1);
    EXPECT_EQ(started.info->config, sampleInfo().config);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(sink.events().size(), 1u);
    const auto position = replayer->position();
    EXPECT_FALSE(position.playing);
    EXPECT_FALSE(position.atEnd);
    EXPECT_EQ(position.at, TimeNs{});
    EXPECT_EQ(position.end, TimeNs{1'000'000'000});
    EXPECT_EQ(position.lastStep, 100);
}

TEST_F(ReplayerTest, PlaysInTheTimeOfTheSession) {
    record(40);  // 400 ms
    const auto replayer = open();
    const auto begin = std::chrono::steady_clock::now();
    replayer->play();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_GE(took, 0.399);
    EXPECT_LT(took, 2.0);
    EXPECT_EQ(published(), upTo(40));
    EXPECT_FALSE(replayer->position().playing);
}

TEST_F(ReplayerTest, PlaysFasterWhenAsked) {
    record(1000);  // 10 s
    const auto replayer = open();
    replayer->setSpeed(100);
    const auto begin = std::chrono::steady_clock::now();
    replayer->play();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_GE(took, 0.099);
    EXPECT_LT(took, 3.0);
    EXPECT_EQ(published(), upTo(1000));
}

TEST_F(ReplayerTest, PausesAndGoesOn) {
    record(100'000);
    const auto replayer = open();
    replayer->setSpeed(10);
    replayer->play();
    ASSERT_TRUE(eventually([&] { return published().size() > 20; }));
    replayer->pause();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto here = replayer->position();
    const auto sent = published().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(published().size(), sent);
    EXPECT_EQ(replayer->position().at, here.at);
    EXPECT_FALSE(here.playing);
    replayer->play();
    ASSERT_TRUE(eventually([&] { return published().size() > sent; }));
    const auto all = published();  // once: it is still playing
    EXPECT_EQ(all, upTo(static_cast<std::int64_t>(all.size())));
    EXPECT_EQ(starts(), 1u);
}

TEST_F(ReplayerTest, ChangesSpeedWithoutJumping) {
    record(100'000);
    const auto replayer = open();
    replayer->play();
    ASSERT_TRUE(eventually([&] { return published().size() >= 3; }));
    replayer->setSpeed(1000);
    const auto at = replayer->position().at;
    EXPECT_LT(at, TimeNs::fromSeconds(30)) << "the time before the change counts at the old speed";
    replayer->setSpeed(kAtOnce);
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    EXPECT_EQ(published(), upTo(100'000));
}

TEST_F(ReplayerTest, KeepsItsPlaceInALongSilenceHoweverOftenTheSpeedIsMoved) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    (*recorder)->publish(sampleStep(1, {1'000'000}));
    (*recorder)->publish(sampleStep(2, TimeNs::fromSeconds(3600)));  // the run was paused for an hour
    ASSERT_TRUE((*recorder)->finish());
    const auto replayer = open();
    replayer->setSpeed(1000);
    replayer->play();
    ASSERT_TRUE(eventually([&] { return replayer->position().at > TimeNs::fromSeconds(100); }));
    TimeNs last = replayer->position().at;
    for (int n = 0; n < 500; ++n) {
        replayer->setSpeed(n % 2 == 0 ? 50 : 100);
        const TimeNs now = replayer->position().at;
        ASSERT_GE(now, last) << "after " << n << " changes";
        last = now;
    }
    replayer->pause();
    EXPECT_GE(replayer->position().at, last);
    EXPECT_EQ(published(), upTo(1));
}

TEST_F(ReplayerTest, JumpsForwardByPublishingWhatLiesBetween) {
    record(500);
    const auto replayer = open();
    replayer->seek({2'005'000'000});
    ASSERT_TRUE(eventually([&] { return replayer->position().at == TimeNs{2'005'000'000}; }));
    EXPECT_EQ(published(), upTo(200));
    EXPECT_EQ(replayer->position().step, 200);
    replayer->seekStep(321);
    ASSERT_TRUE(eventually([&] { return replayer->position().step == 321; }));
    EXPECT_EQ(published(), upTo(321));
    EXPECT_EQ(starts(), 1u);
    EXPECT_FALSE(replayer->position().atEnd);
}

TEST_F(ReplayerTest, JumpsBackByStartingAnew) {
    record(500);
    const auto replayer = open();
    replayer->seekEnd();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    EXPECT_EQ(published(), upTo(500));
    sink.clear();
    replayer->seekStep(50);
    ASSERT_TRUE(eventually([&] { return replayer->position().step == 50; }));
    EXPECT_TRUE(std::holds_alternative<SessionStarted>(sink.events().front()));
    EXPECT_EQ(published(), upTo(50));
    EXPECT_FALSE(replayer->position().atEnd);
    sink.clear();
    replayer->seekStep(-3);
    ASSERT_TRUE(eventually([&] { return starts() == 1; }));
    EXPECT_TRUE(published().empty());
}

TEST_F(ReplayerTest, JumpsByIndexForAListenerThatNeedsNothingBetween) {
    constexpr std::int64_t kSteps = 120'000;
    record(kSteps);
    ASSERT_GT(std::filesystem::file_size(path), 10'000'000u);
    std::vector<std::pair<std::int64_t, std::int64_t>> jumps;
    std::mutex guard;
    const auto jumped = [&](const Replayer::Jump& jump) {
        std::lock_guard lock(guard);
        jumps.emplace_back(jump.to.ns, jump.step);
    };
    const auto opened = Replayer::open(path, 1, sink, jumped);
    ASSERT_TRUE(opened);
    Replayer& replayer = **opened;
    const auto before = bytesRead();
    replayer.seekEnd();
    ASSERT_TRUE(eventually([&] { return replayer.position().atEnd; }));
    EXPECT_EQ(replayer.position().step, kSteps);
    replayer.seekStep(60'000);
    ASSERT_TRUE(eventually([&] { return replayer.position().step == 60'000; }));
    EXPECT_EQ(replayer.position().at, TimeNs{60'000 * 10'000'000LL});
    replayer.seekStep(3);
    ASSERT_TRUE(eventually([&] { return replayer.position().step == 3; }));
    EXPECT_LT(bytesRead() - before, 5'000'000);
    EXPECT_TRUE(published().empty());
    EXPECT_EQ(starts(), 1u);
    // The place is known before its listener is told.
    ASSERT_TRUE(eventually([&] {
        std::lock_guard lock(guard);
        return jumps.size() == 3;
    }));
    EXPECT_EQ(jumps.at(1), (std::pair<std::int64_t, std::int64_t>{60'000 * 10'000'000LL, 60'000}));
    replayer.setSpeed(1000);
    replayer.play();
    ASSERT_TRUE(eventually([&] { return published().size() >= 10; }));
    replayer.pause();
    EXPECT_EQ(published().front(), 4) << "and goes on from there";
}

TEST_F(ReplayerTest, TellsAListenerThatCanGoBackOfAJumpBackAndReadsNothingAnew) {
    constexpr std::int64_t kSteps = 120'000;
    record(kSteps);
    std::vector<std::int64_t> jumps;
    std::mutex guard;
    const auto jumped = [&](const Replayer::Jump& jump) {
        std::lock_guard lock(guard);
        jumps.push_back(jump.step);
    };
    const auto opened = Replayer::open(path, 1, sink, jumped, Replayer::Told::OfJumpsBack);
    ASSERT_TRUE(opened);
    Replayer& replayer = **opened;
    replayer.seekEnd();
    ASSERT_TRUE(eventually([&] { return replayer.position().atEnd; }));
    EXPECT_EQ(published().size(), static_cast<std::size_t>(kSteps)) << "forward, what lies between is needed";
    EXPECT_TRUE(jumps.empty());
    sink.clear();
    const auto before = bytesRead();
    replayer.seekStep(90'000);
    ASSERT_TRUE(eventually([&] { return replayer.position().step == 90'000; }));
    // The position is known a moment before the listener has been told.
    ASSERT_TRUE(eventually([&] {
        std::lock_guard lock(guard);
        return !jumps.empty();
    }));
    EXPECT_LT(bytesRead() - before, 2'000'000) << "of a file of " << std::filesystem::file_size(path);
    EXPECT_TRUE(sink.events().empty());
    EXPECT_EQ(jumps, std::vector<std::int64_t>{90'000});
    replayer.seekStep(90'020);
    ASSERT_TRUE(eventually([&] { return replayer.position().step == 90'020; }));
    EXPECT_EQ(published().front(), 90'001) << "and goes on from there";
    EXPECT_EQ(published().size(), 20u);
    EXPECT_EQ(starts(), 0u);
}

TEST_F(ReplayerTest, SaysWhatStandsWhereItJumpedTo) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    for (const auto& event : oneOfEachKind()) (*recorder)->publish(event);
    ASSERT_TRUE((*recorder)->finish());
    std::vector<StandingEvents> found;
    std::mutex guard;
    const auto opened = Replayer::open(path, 1, sink, [&](const Replayer::Jump& jump) {
        std::lock_guard lock(guard);
        found.push_back(jump.standing);
    });
    ASSERT_TRUE(opened);
    for (const std::int64_t at : {999, 1'100, 2'005, 2'199}) {
        (*opened)->seek({at});
        ASSERT_TRUE(eventually([&] { return (*opened)->position().at == TimeNs{at}; }));
    }
    std::lock_guard lock(guard);
    ASSERT_EQ(found.size(), 4u);
    EXPECT_FALSE(found[0].preparing || found[0].state || found[0].text);
    EXPECT_EQ(found[1].preparing->what, "building");
    EXPECT_EQ(found[1].state->state, RunState::Running);
    EXPECT_EQ(found[2].text->text, "In the beginning");
    EXPECT_EQ(found[3].text->text, "In the beginning was");
    EXPECT_EQ(found[3].state->state, RunState::Running);
}

TEST_F(ReplayerTest, FindsEveryStepByBisection) {
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    std::int64_t at = 0;
    for (int step = 8; step < 300; ++step) (*recorder)->publish(sampleStep(step, {at += step % 5 == 0 ? 0 : 1 + (step * 7919) % 1'000'000}));
    ASSERT_TRUE((*recorder)->finish());
    std::int64_t seen = -1;
    const auto replayer = Replayer::open(path, 1, sink, [&](const Replayer::Jump& jump) { seen = jump.step; });
    for (const std::int64_t step : {8, 9, 10, 11, 150, 154, 298, 299}) {
        (*replayer)->seekStep(step);
        // Two of one instant are made together.
        ASSERT_TRUE(eventually([&] { return (*replayer)->position().step == ((step + 1) % 5 == 0 && step < 299 ? step + 1 : step); })) << step;
    }
}

TEST_F(ReplayerTest, GoesOnPlayingAfterAJump) {
    record(10'000);
    const auto replayer = open();
    replayer->play();
    replayer->seekStep(5000);
    ASSERT_TRUE(eventually([&] { return replayer->position().step >= 5003; }));
    EXPECT_TRUE(replayer->position().playing);
    EXPECT_LT(replayer->position().at, TimeNs::fromSeconds(70));
}

TEST_F(ReplayerTest, PlaysAgainFromTheBeginningAtTheEnd) {
    record(30);
    const auto replayer = open();
    replayer->setSpeed(kAtOnce);
    replayer->play();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    sink.clear();
    replayer->play();
    ASSERT_TRUE(eventually([&] { return published().size() == 30; }));
    EXPECT_EQ(starts(), 1u);
}

TEST_F(ReplayerTest, EndsAtTheLastOfManyHastyRequests) {
    record(20'000);
    const auto replayer = open();
    replayer->setSpeed(1000);
    for (int n = 0; n < 300; ++n) {
        replayer->seekStep(n * 37 % 20'000);
        if (n % 3 == 0) replayer->play();
        if (n % 3 == 1) replayer->pause();
        if (n % 50 == 0) replayer->seekEnd();
    }
    replayer->pause();
    replayer->seekStep(1234);
    ASSERT_TRUE(eventually([&] { return replayer->position().step == 1234 && replayer->position().at == TimeNs{12'340'000'000}; }));
    const auto events = sink.events();
    std::size_t begin = events.size();
    while (begin > 0 && !std::holds_alternative<SessionStarted>(events[begin - 1])) --begin;
    EXPECT_EQ(stepsOf({events.begin() + static_cast<std::ptrdiff_t>(begin), events.end()}), upTo(1234)) << "what listeners hold since the last start";
}

TEST_F(ReplayerTest, IsDestroyedWhileItPublishes) {
    record(50'000);
    for (int round = 0; round < 10; ++round) {
        const auto replayer = open();
        if (round % 2 == 0)
            replayer->seekEnd();
        else
            replayer->play();
        std::this_thread::sleep_for(std::chrono::milliseconds(round));
    }
}

TEST_F(ReplayerTest, NamesTheSessionThatIsNotThere) {
    record(1);
    const auto replayer = Replayer::open(path, 999999, sink);
    ASSERT_FALSE(replayer);
    EXPECT_EQ(replayer.error().code, ErrorCode::NotFound);
    EXPECT_NE(replayer.error().sentence.find("999999"), std::string::npos);
}

TEST_F(ReplayerTest, ReplaysASessionWithoutEvents) {
    record(0);
    const auto replayer = open();
    replayer->play();
    ASSERT_TRUE(eventually([&] { return replayer->position().atEnd; }));
    EXPECT_EQ(sink.events().size(), 1u);
    EXPECT_EQ(replayer->position().end, TimeNs{});
}
