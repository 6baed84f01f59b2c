// What `compare` reads of a stored session: all that its events say, of which few are in memory at a time.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/StoredRuns.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

// A reader that remembers how many events it handed out at once.
struct WatchedReader final : SessionReader {
    explicit WatchedReader(std::unique_ptr<SessionReader> of) : real(std::move(of)) {}
    Result<std::vector<SessionSummary>> list() override { return real->list(); }
    const std::vector<Error>& unreadable() const override { return real->unreadable(); }
    Result<SessionSummary> summary(std::int64_t session) override { return real->summary(session); }
    Result<SessionInfo> info(std::int64_t session) override { return real->info(session); }
    Result<std::vector<Event>> events(std::int64_t session, std::int64_t from, std::int64_t most) override {
        auto events = real->events(session, from, most);
        if (events) greatest = std::max(greatest, events->size());
        return events;
    }
    Result<std::int64_t> eventCount(std::int64_t session) override { return real->eventCount(session); }
    Result<std::vector<Event>> measurements(std::int64_t session) override { return real->measurements(session); }
    Result<std::vector<DeviceSample>> samples(std::int64_t session, std::int64_t most) override { return real->samples(session, most); }
    Result<std::vector<ChunkLane>> chunkLanes(std::int64_t session) override { return real->chunkLanes(session); }
    Result<ChunkPage> chunks(std::int64_t session, const ChunkRange& range, const ChunkPlace& after, std::int64_t mostBytes) override {
        return real->chunks(session, range, after, mostBytes);
    }
    std::unique_ptr<SessionReader> real;
    std::size_t greatest = 0;
};

}  // namespace

TEST(StoredRuns, AreReadInPagesHoweverManyStepsThereAre) {
    constexpr int kSteps = 30'000;
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    SessionInfo info = sampleInfo("a run");
    info.firstStep = 0;
    auto recorder = Recorder::open({.path = path}, info);
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    for (int step = 1; step <= kSteps; ++step) (*recorder)->publish(sampleStep(step));
    (*recorder)->publish(SwitchApplied{kSteps, {kSteps * 1'000'000LL + 2}, "amp", std::string("off"), std::string("bf16"), ""});
    ASSERT_TRUE((*recorder)->finish());
    const std::int64_t session = (*recorder)->session();
    WatchedReader reader(std::move(*SessionReader::open(path)));
    const auto run = readStoredRun(reader, session);
    ASSERT_TRUE(run) << run.error().sentence;
    const StoredRun whole = storedRun(storedEvents(path, session));
    EXPECT_EQ(run->session, session);
    EXPECT_EQ(run->ms, whole.ms);
    EXPECT_EQ(run->tokens, whole.tokens);
    EXPECT_EQ(run->steadyMs, whole.steadyMs);
    EXPECT_EQ(run->flips, 1);
    EXPECT_EQ(run->ms.size(), static_cast<std::size_t>(kSteps));
    EXPECT_LT(reader.greatest, 10'000U);
    EXPECT_FALSE(readStoredRun(reader, session + 1));
}

TEST(StoredRuns, TheSettingsOfANameAreThoseOfItsNewestRunAndNeverOfAnExperiment) {
    const TempFolder folder;
    const std::string path = folder.file("s.db");
    EXPECT_FALSE(settingsOfNewest(path, "a run").value()) << "there is no database yet";
    const auto record = [&](const std::string& name, std::int64_t seed, SessionKind kind) {
        SessionInfo info = sampleInfo(name);
        info.kind = kind;
        info.config->seed = seed;
        ASSERT_TRUE(Recorder::open({.path = path}, info));
    };
    record("a run", 1, SessionKind::Run);
    record("a run", 2, SessionKind::Run);
    record("a run", 3, SessionKind::Experiment);
    record("another run", 4, SessionKind::Run);
    RunConfig newest = *sampleInfo().config;
    newest.seed = 2;
    const auto found = settingsOfNewest(path, "a run");
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, listConfig(newest));
    EXPECT_FALSE(settingsOfNewest(path, "a run that nobody made").value());
    ASSERT_TRUE(deleteSession(path, 2));
    newest.seed = 1;
    EXPECT_EQ(*settingsOfNewest(path, "a run").value(), listConfig(newest));
}
