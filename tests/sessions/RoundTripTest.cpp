// What goes into the database comes out of it: every kind of event, every field, in order of time.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sessions/MachineJson.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

std::int64_t record(const std::string& path, const std::vector<Event>& events, const SessionInfo& info = sampleInfo()) {
    auto recorder = Recorder::open({.path = path}, info);
    EXPECT_TRUE(recorder) << recorder.error().sentence;
    for (const auto& event : events) (*recorder)->publish(event);
    const Status done = (*recorder)->finish();
    EXPECT_TRUE(done) << done.error().sentence;
    return (*recorder)->session();
}

std::vector<Event> withoutStart(std::vector<Event> events) {
    EXPECT_TRUE(std::holds_alternative<SessionStarted>(events.at(0)));
    events.erase(events.begin());
    return events;
}

}  // namespace

TEST(RoundTrip, KeepsEveryKindOfEventWithEveryField) {
    const TempFolder folder;
    const auto events = oneOfEachKind();
    std::set<std::size_t> kinds;
    for (const auto& event : events) kinds.insert(event.index());
    ASSERT_EQ(kinds.size() + 1, std::variant_size_v<AnyEvent>) << "the example lacks a kind of event";

    const auto session = record(folder.file("s.db"), events);
    EXPECT_EQ(asText(withoutStart(storedEvents(folder.file("s.db"), session))), asText(events));
}

TEST(RoundTrip, OrdersEventsByTimeHoweverTheyArrived) {
    const TempFolder folder;
    const auto sorted = oneOfEachKind();
    auto arriving = sorted;
    std::ranges::reverse(arriving);
    // Of one instant the first published comes first; the two log lines of 1 800 ns arrive the other way round here.
    auto expected = sorted;
    const auto lines = std::ranges::find_if(expected, [](const Event& e) { return std::holds_alternative<LogLine>(e); });
    std::iter_swap(lines, lines + 1);
    const auto session = record(folder.file("s.db"), arriving);
    EXPECT_EQ(asText(withoutStart(storedEvents(folder.file("s.db"), session))), asText(expected));
}

TEST(RoundTrip, ReadsTheSameStreamInPiecesFromAnyPlace) {
    const TempFolder folder;
    const auto session = record(folder.file("s.db"), oneOfEachKind());
    const auto whole = asText(storedEvents(folder.file("s.db"), session));
    auto reader = SessionReader::open(folder.file("s.db"));
    ASSERT_TRUE(reader);
    EXPECT_EQ(*(*reader)->eventCount(session), static_cast<std::int64_t>(whole.size()));
    for (const std::int64_t most : {1, 3, 7}) {
        std::vector<std::string> pieced;
        for (std::int64_t from = 0;; from += most) {
            const auto piece = (*reader)->events(session, from, most);
            ASSERT_TRUE(piece) << piece.error().sentence;
            if (piece->empty()) break;
            for (const auto& event : *piece) pieced.push_back(asText(event));
        }
        EXPECT_EQ(pieced, whole) << "in pieces of " << most;
    }
    for (std::size_t from = whole.size(); from-- > 0;) {
        const auto one = (*reader)->events(session, static_cast<std::int64_t>(from), 1);
        ASSERT_EQ(one->size(), 1u);
        EXPECT_EQ(asText(one->front()), whole[from]);
    }
    EXPECT_TRUE((*reader)->events(session, 1'000'000, 5)->empty());
}

TEST(RoundTrip, KeepsWhatDescribesTheSession) {
    const TempFolder folder;
    const SessionInfo info = sampleInfo();
    const auto session = record(folder.file("s.db"), {}, info);
    auto reader = SessionReader::open(folder.file("s.db"));
    const auto stored = (*reader)->info(session);
    ASSERT_TRUE(stored) << stored.error().sentence;
    EXPECT_EQ(stored->name, info.name);
    EXPECT_EQ(stored->notes, info.notes);
    EXPECT_EQ(stored->tags, info.tags);
    EXPECT_EQ(stored->startedUnixMs, info.startedUnixMs);
    EXPECT_EQ(stored->config, info.config);
    EXPECT_EQ(stored->machine, info.machine);
    EXPECT_EQ(stored->vocabulary, info.vocabulary);
    EXPECT_EQ(stored->parameters, info.parameters);
    EXPECT_EQ(stored->trainTokens, info.trainTokens);
    EXPECT_EQ(stored->validationTokens, info.validationTokens);
    EXPECT_EQ(stored->firstStep, info.firstStep);
    EXPECT_EQ(stored->resumedFrom, info.resumedFrom);
    EXPECT_EQ(stored->goesOnWith, info.goesOnWith);
    EXPECT_EQ(stored->workers, info.workers);
    EXPECT_EQ(stored->link, info.link);
    EXPECT_EQ(stored->predictedBytes, info.predictedBytes);
}

TEST(RoundTrip, TakesWhatIsOnlyKnownLaterFromSessionStarted) {
    const TempFolder folder;
    auto early = sampleInfo();
    early.vocabulary = early.parameters = early.trainTokens = 0;
    auto known = sampleInfo();
    known.config->layers = 9;
    const auto session = record(folder.file("s.db"), {SessionStarted{0, std::make_shared<const SessionInfo>(known), false}}, early);
    auto reader = SessionReader::open(folder.file("s.db"));
    EXPECT_EQ((*reader)->info(session)->parameters, known.parameters);
    EXPECT_EQ((*reader)->info(session)->config, known.config);
    EXPECT_EQ(storedEvents(folder.file("s.db"), session).size(), 1u) << "the session starts once";
}

TEST(RoundTrip, KeepsASessionThatIsNoRunWithoutSettingsAndMachine) {
    const TempFolder folder;
    SessionInfo info = sampleInfo("somebody's trace");
    info.kind = SessionKind::Trace;
    info.config.reset();
    info.machine.reset();
    const auto session = record(folder.file("s.db"), {LogLine{{5}, 0, LogLevel::Info, "imported"}}, info);
    auto reader = SessionReader::open(folder.file("s.db"));
    const auto stored = (*reader)->info(session);
    ASSERT_TRUE(stored.ok()) << stored.error().sentence;
    EXPECT_EQ(stored->kind, SessionKind::Trace);
    EXPECT_FALSE(stored->config);
    EXPECT_FALSE(stored->machine);
    const auto summary = (*reader)->summary(session);
    ASSERT_TRUE(summary.ok()) << summary.error().sentence;
    EXPECT_EQ(summary->kind, SessionKind::Trace);
    EXPECT_TRUE(summary->config.empty());
}

TEST(RoundTrip, KeepsAMachineWithoutAGpu) {
    Machine machine = *sampleInfo().machine;
    machine.gpus.clear();
    EXPECT_EQ(machineFromJson(machineToJson(machine)), machine);
}

TEST(RoundTrip, ReadsNoMoreOfACaptureThanItWouldHaveWritten) {
    const TempFolder folder;
    const auto session = record(folder.file("s.db"), oneOfEachKind());
    {
        SQLite::Database other(folder.file("s.db"), SQLite::OPEN_READWRITE);
        other.exec(
            "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO captured_operations "
            "SELECT session, at_ns, seq, i, printf('%.*c', 10000, 'x'), 'other', '', '', 0, 1, 1, 1, 1 FROM captured_operations, n "
            "WHERE position = 0");
    }
    for (const auto& event : storedEvents(folder.file("s.db"), session)) {
        const auto* capture = std::get_if<CaptureDone>(&event);
        if (capture == nullptr || capture->rows->empty()) continue;
        EXPECT_EQ(capture->rows->size(), kMostCapturedOperations);
        EXPECT_EQ(capture->rows->back().name.size(), kLongestOperationName);
    }
}
