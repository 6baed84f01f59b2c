// The stream of a stored session merged from its tables: the same whatever it is read in pieces of, its look-ups those of going through all of it,
// and what a stranger wrote into the tables refused instead of followed for ever.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "sessions/file/Connection.h"
#include "sessions/record/EventMerge.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min(), kLast = std::numeric_limits<std::int64_t>::max();

struct EventMergeOf : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::int64_t record(const std::vector<Event>& events) const {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        for (const auto& event : events) (*recorder)->publish(event);
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    }
    Connection open() const {
        auto connection = openForReading(path);
        EXPECT_TRUE(connection) << connection.error().sentence;
        return std::move(*connection);
    }
    void damage(const std::string& sql) const { SQLite::Database(path, SQLite::OPEN_READWRITE, 5000).exec(sql); }

    // Steps with validations, samples and other things between them, several of one moment.
    static std::vector<Event> mixed(std::uint64_t seed, int count) {
        std::mt19937_64 random(seed);
        std::vector<Event> events;
        std::int64_t at = 0, step = 0;
        for (int i = 0; i < count; ++i) {
            at += static_cast<std::int64_t>(random() % 3);
            switch (random() % 6) {
                case 0:
                    events.emplace_back(DeviceSample{{at}, 50.0, 1, 2});
                    break;
                case 1:
                    events.emplace_back(ValidationDone{step, {at}, {5}, 3.25});
                    break;
                case 2:
                    events.emplace_back(StateChanged{{at}, step, random() % 2 == 0 ? RunState::Running : RunState::Paused, fmt::format("why {}", i)});
                    break;
                default:
                    events.emplace_back(sampleStep(++step, {at}));
            }
        }
        return events;
    }
    static std::int64_t timeOf(const Event& event) {
        return std::visit(
            [](const auto& one) {
                if constexpr (requires { one.at.ns; })
                    return one.at.ns;
                else
                    return std::int64_t{-1};
            },
            event);
    }
};

TEST_F(EventMergeOf, EveryKindComesBackAsItWasInTheOrderOfItsTime) {
    const auto events = oneOfEachKind();
    const std::int64_t session = record(events);
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> read;
    merge.read(session, {}, 10'000, read);
    std::vector<Event> expected;
    for (const auto& event : events)
        if (!std::holds_alternative<SessionStarted>(event)) expected.push_back(event);
    EXPECT_EQ(asText(read), asText(expected));
    EXPECT_EQ(merge.count(session), static_cast<std::int64_t>(expected.size()));
    for (const auto& event : read) EXPECT_TRUE(isReadable(event)) << asText(event);
}

TEST_F(EventMergeOf, PiecesOfAnySizeAreTheWholeAndTheirPlacesThoseOfSkipping) {
    const std::int64_t session = record(mixed(3, 400));
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> whole;
    merge.read(session, {}, 100'000, whole);
    ASSERT_EQ(merge.count(session), static_cast<std::int64_t>(whole.size()));
    for (const std::int64_t most : {1, 2, 7, 399, 1000}) {
        std::vector<Event> pieces;
        EventKey place;
        for (;;) {
            const std::size_t before = pieces.size();
            place = merge.read(session, place, most, pieces);
            if (pieces.size() == before) break;
            EXPECT_EQ(merge.skip(session, static_cast<std::int64_t>(pieces.size())), place);
        }
        EXPECT_EQ(asText(pieces), asText(whole)) << most;
    }
    EXPECT_EQ(merge.skip(session, 0), EventKey());
    EXPECT_EQ(merge.skip(session, -3), EventKey());
    EXPECT_EQ(merge.skip(session, static_cast<std::int64_t>(whole.size()) + 1), (EventKey{kLast, kLast}));
    std::vector<Event> none;
    merge.read(session, {kLast, kLast}, 10, none);
    merge.read(session, {}, 0, none);
    EXPECT_TRUE(none.empty());
}

TEST_F(EventMergeOf, LookUpsAreThoseOfGoingThroughAllOfIt) {
    const std::int64_t session = record(mixed(5, 300));
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> whole;
    merge.read(session, {}, 100'000, whole);
    ASSERT_FALSE(whole.empty());
    const std::int64_t last = timeOf(whole.back());
    EXPECT_EQ(merge.lastTime(session).ns, last);
    for (std::int64_t at = -2; at <= last + 2; ++at) {
        std::int64_t step = -9;
        std::string state = "none";
        for (const auto& event : whole) {
            if (timeOf(event) > at) break;
            if (const auto* done = std::get_if<StepDone>(&event)) step = done->step;
            if (const auto* changed = std::get_if<StateChanged>(&event)) state = changed->why;
        }
        EXPECT_EQ(merge.stepAt(session, {at}, -9), step) << at;
        const StandingEvents standing = merge.standingAt(session, {at});
        EXPECT_EQ(standing.state ? standing.state->why : "none", state) << at;
        EXPECT_FALSE(standing.preparing);
    }
    const std::int64_t steps = static_cast<std::int64_t>(stepsOf(whole).size());
    for (std::int64_t step = -1; step <= steps + 2; ++step) {
        std::int64_t expected = last;
        for (const auto& event : whole)
            if (const auto* done = std::get_if<StepDone>(&event); done != nullptr && done->step >= step) {
                expected = done->at.ns;
                break;
            }
        EXPECT_EQ(merge.timeOfStep(session, step).ns, expected) << step;
    }
}

TEST_F(EventMergeOf, OfASessionWithoutEventsThereIsNothingToFind) {
    const std::int64_t session = record({});
    const auto connection = open();
    EventMerge merge(*connection);
    for (const std::int64_t one : {session, std::int64_t{99}, std::int64_t{-1}, kEarliest}) {
        EXPECT_EQ(merge.count(one), 0);
        EXPECT_EQ(merge.lastTime(one).ns, 0);
        EXPECT_EQ(merge.timeOfStep(one, 5).ns, 0);
        EXPECT_EQ(merge.stepAt(one, {kLast}, 7), 7);
        EXPECT_FALSE(merge.standingAt(one, {kLast}).state);
    }
}

TEST_F(EventMergeOf, MeasurementsAreWhatWasSaidOfThemAndNothingElse) {
    const std::int64_t session = record(oneOfEachKind());
    const auto connection = open();
    std::vector<Event> all, some;
    EventMerge(*connection).read(session, {}, 10'000, all);
    EventMerge(*connection, EventMerge::Kinds::Measurements).read(session, {}, 10'000, some);
    std::vector<Event> expected;
    for (const auto& event : all)
        if (std::holds_alternative<ExperimentBegan>(event) || std::holds_alternative<BlockDone>(event) ||
            std::holds_alternative<ExperimentJudged>(event) || std::holds_alternative<StudyBegan>(event) || std::holds_alternative<StudyRow>(event))
            expected.push_back(event);
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(asText(some), asText(expected));
}

TEST_F(EventMergeOf, SessionsOfOneFileDoNotMix) {
    const std::int64_t one = record(mixed(7, 50)), other = record(mixed(8, 60));
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> first, second, again;
    merge.read(one, {}, 1000, first);
    merge.read(other, {}, 1000, second);
    merge.read(one, {}, 1000, again);
    EXPECT_NE(asText(first), asText(second));
    EXPECT_EQ(asText(first), asText(again)) << "statements that were used begin anew";
}

TEST_F(EventMergeOf, TimesThatNoRunHasAreRefusedInsteadOfFollowed) {
    for (const char* lie : {"UPDATE steps SET at_ns = -1 WHERE step = 3", "UPDATE steps SET at_ns = 9223372036854775807 WHERE step = 3",
                            "UPDATE steps SET step = -1 WHERE step = 3", "UPDATE steps SET step = 9223372036854775807 WHERE step = 3",
                            "UPDATE steps SET at_ns = 'soon' WHERE step = 3", "UPDATE steps SET at_ns = 2.5 WHERE step = 3",
                            "UPDATE steps SET seq = 'last' WHERE step = 3", "UPDATE steps SET seq = 0.5 WHERE step = 3"}) {
        folder.~TempFolder();
        new (&folder) TempFolder();
        path = folder.file("s.db");
        const std::int64_t session = record({sampleStep(1), sampleStep(2), sampleStep(3), sampleStep(4)});
        damage(lie);
        const auto connection = open();
        EventMerge merge(*connection);
        std::vector<Event> read;
        EXPECT_THROW(merge.read(session, {}, 1000, read), std::out_of_range) << lie;
        EXPECT_LT(read.size(), 5U);
        // The look-ups give what they can, and come to an end.
        (void)merge.timeOfStep(session, 4);
        (void)merge.stepAt(session, {kLast}, 0);
        (void)merge.count(session);
    }
}

TEST_F(EventMergeOf, AMeasurementThatCannotBeIsRefused) {
    const std::int64_t session = record(oneOfEachKind());
    damage("UPDATE blocks SET duration_ns = -1");
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> read;
    EXPECT_THROW(merge.read(session, {}, 10'000, read), std::out_of_range);
}

TEST_F(EventMergeOf, OfACapturesOperationsNoMoreAreReadThanWeWriteAndTheirNamesAreCut) {
    const std::int64_t session = record(oneOfEachKind());
    ASSERT_GT(SQLite::Database(path).execAndGet("SELECT count(*) FROM captured_operations").getInt64(), 0);
    damage(fmt::format("UPDATE captured_operations SET name = printf('%.{}c', 'x')", 4 * kLongestOperationName));
    const auto connection = open();
    EventMerge merge(*connection);
    std::vector<Event> read;
    merge.read(session, {}, 10'000, read);
    std::size_t rows = 0;
    for (const auto& event : read)
        if (const auto* capture = std::get_if<CaptureDone>(&event)) {
            ASSERT_NE(capture->rows, nullptr);
            for (const auto& row : *capture->rows) EXPECT_EQ(row.name.size(), kLongestOperationName);
            rows += capture->rows->size();
        }
    EXPECT_GT(rows, 0U);
    EXPECT_LE(rows, static_cast<std::size_t>(kMostCapturedOperations) * 2);
}

TEST_F(EventMergeOf, WhatCouldNotBeReadAgainIsKnownBeforeItIsStored) {
    EXPECT_TRUE(isReadable(sampleStep(1)));
    EXPECT_TRUE(isReadable(sampleStep(0, {0})));
    EXPECT_FALSE(isReadable(sampleStep(-1, {5})));
    EXPECT_FALSE(isReadable(sampleStep(1, {-1})));
    EXPECT_FALSE(isReadable(sampleStep(1, {kLast})));
    EXPECT_FALSE(isReadable(sampleStep(kLast, {1})));
    StudyRow row{.at = {1}};
    row.pairs = -1;
    EXPECT_FALSE(isReadable(row));
    row.pairs = 0;
    EXPECT_TRUE(isReadable(row));
    row.keptSession = -1;
    EXPECT_FALSE(isReadable(row));
}

}  // namespace
}  // namespace stepscope::test
