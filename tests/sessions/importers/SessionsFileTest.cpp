// Sessions of another file of Stepscope's, brought here: every event and every chunk of each, what is here already only once, and of what is wrong
// there a sentence while the others come.
#include <SQLiteCpp/Database.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/trace/LodCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/Schema.h"
#include "sessions/SessionStore.h"
#include "sessions/importers/Import.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

struct SessionsFile : testing::Test {
    TempFolder folder;
    std::string there = folder.file("there.db"), here = folder.file("here.db");

    static SessionInfo named(const std::string& name, std::int64_t startedUnixMs) {
        SessionInfo info = sampleInfo(name);
        info.startedUnixMs = startedUnixMs;
        return info;
    }
    std::unique_ptr<Recorder> recorder(const SessionInfo& info) {
        auto opened = Recorder::open({.path = there}, info);
        EXPECT_TRUE(opened) << opened.error().sentence;
        return opened ? std::move(*opened) : nullptr;
    }
    std::int64_t record(const SessionInfo& info, const std::vector<Event>& events, int blocks = 0) {
        const auto into = recorder(info);
        for (const Event& event : events) into->publish(event);
        for (std::int64_t i = 0; i < blocks; ++i) {
            SliceBlock block{.thread = {.process = 1, .thread = 2, .name = "t", .lane = 3}, .strings = {"", "aten::mm"}};
            for (std::int64_t slice = 0; slice < 100; ++slice) block.slices.push_back({.start = i * 1000 + slice * 10, .duration = 5, .name = 1});
            into->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
        }
        EXPECT_TRUE(into->finish());
        return into->session();
    }
    static std::vector<Event> steps(std::int64_t count) {
        std::vector<Event> events;
        for (std::int64_t step = 1; step <= count; ++step) events.emplace_back(sampleStep(step));
        events.emplace_back(StateChanged{.at = {(count + 1) * 1'000'000}, .step = count, .state = RunState::Finished, .why = {}});
        return events;
    }
    Result<ImportSummary> import(const std::string& name = {}, std::function<bool(double, const std::string&)> progress = {}) {
        return importFiles({.database = here, .files = {there}, .name = name, .progress = std::move(progress)});
    }
    std::string refusal(const std::string& name = {}) {
        const auto summary = import(name);
        return summary ? "" : summary.error().sentence;
    }
    static std::vector<SessionSummary> listed(const std::string& path) {
        auto reader = SessionReader::open(path);
        return reader ? (*reader)->list().value() : std::vector<SessionSummary>();
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        if (!std::filesystem::exists(here)) return all;
        for (const SessionSummary& one : listed(here)) all.push_back(one.name);
        return all;
    }
    static std::vector<std::string> lanes(const std::string& path, std::int64_t session) {
        std::vector<std::string> all;
        const auto reader = SessionReader::open(path);
        const auto stored = reader ? (*reader)->chunkLanes(session) : Result<std::vector<ChunkLane>>(reader.error());
        EXPECT_TRUE(stored);
        if (!stored) return all;
        for (const ChunkLane& lane : *stored)
            all.push_back(lane.kind + " " + std::to_string(lane.lane) + " " + std::to_string(lane.records) + " " + std::to_string(lane.bytes));
        return all;
    }
};

TEST_F(SessionsFile, EverySessionComesWithAllThatIsStoredOfIt) {
    auto ofEachKind = oneOfEachKind();
    for (Event& event : ofEachKind)
        if (auto* row = std::get_if<StudyRow>(&event)) row->keptSession = 0;  // has another number here
    const auto kinds = record(named("all kinds", 1'700'000'000'000), ofEachKind, 3);
    const auto many = record(named("many steps", 1'700'000'100'000), steps(25'000));
    ASSERT_TRUE(annotateSession(there, many, "a note", {"tag"}));
    const auto summary = import();
    ASSERT_TRUE(summary) << summary.error().sentence;
    EXPECT_EQ(summary->sessions, 2);
    EXPECT_EQ(summary->steps,
              25'000 + std::ranges::count_if(oneOfEachKind(), [](const Event& event) { return std::holds_alternative<StepDone>(event); }));
    EXPECT_THAT(summary->notes, IsEmpty());
    const auto before = listed(there), after = listed(here);
    ASSERT_EQ(after.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(after[i].name, before[i].name);
        EXPECT_EQ(after[i].notes, before[i].notes);
        EXPECT_EQ(after[i].tags, before[i].tags);
        EXPECT_EQ(after[i].state, before[i].state);
        EXPECT_EQ(after[i].startedUnixMs, before[i].startedUnixMs);
        EXPECT_EQ(after[i].endedUnixMs, before[i].endedUnixMs);
        EXPECT_EQ(after[i].steps, before[i].steps);
        EXPECT_EQ(after[i].config, before[i].config);
        EXPECT_EQ(after[i].msPerStepMedian, before[i].msPerStepMedian);
        auto was = storedEvents(there, before[i].id), is = storedEvents(here, after[i].id);
        was.erase(was.begin());  // has the number of the session
        is.erase(is.begin());
        EXPECT_EQ(asText(is), asText(was));
        EXPECT_EQ(lanes(here, after[i].id), lanes(there, before[i].id));
    }
    EXPECT_EQ(summary->session, after[0].id) << "the newest";
    EXPECT_GT(lanes(there, kinds).size(), 1U) << "with the level of detail";
}

TEST_F(SessionsFile, WhatIsHereAlreadyDoesNotComeTwiceAndWhatWentOnThereDoes) {
    record(named("one", 1'700'000'000'000), steps(5));
    ASSERT_TRUE(import());
    ASSERT_TRUE(renameSession(here, listed(here)[0].id, "renamed"));
    EXPECT_THAT(refusal(), AllOf(HasSubstr("has no session to bring here"), HasSubstr("1 of its sessions is here already.")));
    record(named("two", 1'700'000'100'000), steps(5));
    const auto second = import();
    ASSERT_TRUE(second) << second.error().sentence;
    EXPECT_EQ(second->sessions, 1);
    EXPECT_THAT(second->notes, UnorderedElementsAre("1 of its sessions is here already."));
    EXPECT_THAT(names(), UnorderedElementsAre("renamed", "two"));
    const auto info = named("goes on", 1'700'000'200'000);
    record(info, {sampleStep(1)});
    ASSERT_TRUE(import());
    {
        SQLite::Database other(there, SQLite::OPEN_READWRITE, 5000);
        other.exec("UPDATE steps SET step = 9 WHERE session = 3");
    }
    EXPECT_EQ(import()->sessions, 1) << "there it has more steps";
    EXPECT_EQ(import("another name").error().code, ErrorCode::BadInput);
}

TEST_F(SessionsFile, ALadderThatGoesOnWithAnotherNamesItByTheNumberThatItHasHere) {
    const auto ladder = [](const std::string& name, std::int64_t startedUnixMs, std::int64_t goesOnWith) {
        SessionInfo info = named(name, startedUnixMs);
        info.kind = SessionKind::Ladder;
        info.resumedFrom.clear();
        info.goesOnWith = goesOnWith;
        return info;
    };
    // Their numbers here follow those of what is here already.
    ASSERT_TRUE(Recorder::open({.path = here}, named("own", 1'600'000'000'000)).value()->finish());
    const auto begun = record(ladder("begun", 1'700'000'000'000, 0), steps(5));
    record(ladder("gone on with", 1'700'000'100'000, begun), steps(5));
    record(ladder("of one that is gone", 1'700'000'200'000, 17), steps(5));
    ASSERT_TRUE(import());
    const auto reader = SessionReader::open(here).value();
    std::map<std::string, SessionSummary> byName;
    for (const SessionSummary& one : listed(here)) byName[one.name] = one;
    const auto info = [&](const char* name) { return reader->info(byName.at(name).id).value(); };
    EXPECT_NE(byName.at("begun").id, begun);
    EXPECT_EQ(info("begun").goesOnWith, 0);
    EXPECT_EQ(info("gone on with").goesOnWith, byName.at("begun").id);
    EXPECT_EQ(resumedFromWords(info("gone on with")), "session " + std::to_string(byName.at("begun").id));
    EXPECT_EQ(info("of one that is gone").goesOnWith, 0) << "17 is another session here, or none";
    EXPECT_EQ(resumedFromWords(info("of one that is gone")), "session 17 of another file");
    // One that comes later finds what came before.
    record(ladder("later", 1'700'000'300'000, begun), steps(5));
    ASSERT_TRUE(import());
    for (const SessionSummary& one : listed(here))
        if (one.name == "later") {
            EXPECT_EQ(reader->info(one.id).value().goesOnWith, byName.at("begun").id);
        }
}

TEST_F(SessionsFile, ARungThatAnotherSessionMeasuredNamesItByTheNumberThatItHasHere) {
    ASSERT_TRUE(Recorder::open({.path = here}, named("own", 1'600'000'000'000)).value()->finish());
    const auto begun = record(named("begun", 1'700'000'000'000), steps(5));
    const auto rung = [](std::int64_t row, std::int64_t kept, const std::string& versions, const std::string& why) {
        StudyRow one;
        one.at = {row + 1};
        one.row = row;
        one.role = study::kRung;
        one.state = study::kMeasured;
        one.name = "rung " + std::to_string(row);
        one.keptSession = kept;
        one.keptVersions = versions;
        one.why = why;
        return one;
    };
    record(named("gone on with", 1'700'000'100'000), {rung(0, begun, "Stepscope 0.0.9", ""), rung(1, 0, "", "Its own."), rung(2, 17, "", ""),
                                                      rung(3, 18, "Stepscope 0.0.9", "Too few pairs.")});
    const auto summary = import();
    ASSERT_TRUE(summary) << summary.error().sentence;
    std::map<std::string, std::int64_t> byName;
    for (const SessionSummary& one : listed(here)) byName[one.name] = one.id;
    ASSERT_NE(byName.at("begun"), begun);
    std::vector<StudyRow> rows;
    for (const Event& event : storedEvents(here, byName.at("gone on with")))
        if (const auto* row = std::get_if<StudyRow>(&event)) rows.push_back(*row);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0].keptSession, byName.at("begun"));
    EXPECT_EQ(rows[0].keptVersions, "Stepscope 0.0.9");
    EXPECT_EQ(rows[1].keptSession, 0);
    EXPECT_EQ(rows[1].why, "Its own.");
    EXPECT_EQ(rows[2].keptSession, 0) << "17 is another session here, or none";
    EXPECT_EQ(rows[2].why, "Measured in session 17 of another file.");
    EXPECT_EQ(rows[3].why, "Measured in session 18 of another file by another version (Stepscope 0.0.9). Too few pairs.");
}

TEST_F(SessionsFile, OneThatIsBeingRecordedThereIsLeftOut) {
    record(named("done", 1'700'000'000'000), steps(2));
    const auto running = recorder(named("running", 1'700'000'100'000));
    running->publish(StateChanged{.at = {1}, .step = 0, .state = RunState::Running, .why = {}});
    ASSERT_TRUE(eventually([&] { return listed(there).front().state == RunState::Running; }));
    const auto summary = import();
    ASSERT_TRUE(summary) << summary.error().sentence;
    EXPECT_THAT(names(), UnorderedElementsAre("done"));
    EXPECT_THAT(summary->notes, UnorderedElementsAre(AllOf(HasSubstr("\"running\""), HasSubstr("still being recorded"))));
}

TEST_F(SessionsFile, ADamagedSessionLeavesTheOthers) {
    record(named("good", 1'700'000'000'000), steps(2));
    record(named("bad row", 1'700'000'100'000), steps(2));
    record(named("bad event", 1'700'000'200'000), steps(2));
    {
        SQLite::Database other(there, SQLite::OPEN_READWRITE, 5000);
        other.exec("UPDATE sessions SET tags = '{' WHERE id = 2");
        other.exec("UPDATE states SET state = 'flying' WHERE session = 3");
    }
    const auto summary = import();
    ASSERT_TRUE(summary) << summary.error().sentence;
    EXPECT_THAT(names(), UnorderedElementsAre("good"));
    EXPECT_EQ(summary->notes.size(), 2U);
    EXPECT_EQ(summary->steps, 2);
    SQLite::Database stored(here, SQLite::OPEN_READONLY, 5000);
    EXPECT_EQ(stored.execAndGet("SELECT count(*) FROM sessions").getInt64(), 1) << "nothing is left of the others";
}

TEST_F(SessionsFile, IsRefusedInASentenceWhereItCannotBeMeant) {
    record(named("one", 1'700'000'000'000), steps(2));
    record(named("two", 1'700'000'100'000), steps(2));
    EXPECT_THAT(refusal("a name"), AllOf(HasSubstr("2 sessions"), HasSubstr("--name")));
    EXPECT_THAT(importFiles({.database = there, .files = {there}, .name = {}, .progress = {}}).error().sentence, HasSubstr("in the list already"));
    EXPECT_THAT(importFiles({.database = here, .files = {there, there}, .name = {}, .progress = {}}).error().sentence, HasSubstr("by itself"));
    SQLite::Database(there, SQLite::OPEN_READWRITE, 5000).exec("PRAGMA user_version = 17; PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("older Stepscope (schema 17"), HasSubstr("sessions list --db")));
    SQLite::Database(there, SQLite::OPEN_READWRITE, 5000).exec("PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_THAT(refusal(), HasSubstr("newer Stepscope"));
    EXPECT_THAT(names(), IsEmpty());
    SQLite::Database(folder.file("none.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE a(b)");
    EXPECT_THAT(importFiles({.database = here, .files = {folder.file("none.db")}, .name = {}, .progress = {}}).error().sentence,
                HasSubstr("none.db"));
}

// SQLite's locks are of the process: whoever closes a descriptor of the file lets go of the locks of every connection that the process has to it.
TEST_F(SessionsFile, TheDatabaseThatARunIsRecordedIntoIsRefusedAndStaysLocked) {
    const auto recording = recorder(sampleInfo("live"));
    recording->publish(sampleStep(1));
    const auto locked = [&] {
        const pid_t child = ::fork();
        if (child == 0) {
            const int file = ::open(there.c_str(), O_RDWR | O_CLOEXEC);
            struct flock shared {};
            shared.l_type = F_WRLCK;
            shared.l_whence = SEEK_SET;
            shared.l_start = 0x40000002;  // SQLite's shared locks (https://www.sqlite.org/src/file/src/os.h)
            shared.l_len = 510;
            ::_exit(::fcntl(file, F_GETLK, &shared) == 0 && shared.l_type != F_UNLCK ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
    ASSERT_TRUE(locked());
    std::filesystem::create_hard_link(there, folder.file("another name"));
    for (const std::string& file : {there, there + "-wal", there + "-shm", folder.file("another name")}) {
        const auto refused = importFiles({.database = there, .files = {file}});
        ASSERT_FALSE(refused) << file;
        EXPECT_THAT(refused.error().sentence, HasSubstr("sessions are in the list already")) << file;
        EXPECT_TRUE(locked()) << file;
    }
}

TEST_F(SessionsFile, AnImportThatIsStoppedKeepsWhatWasWhole) {
    record(named("first", 1'700'000'000'000), steps(2));
    record(named("second", 1'700'000'100'000), steps(2));
    const auto stopped = import({}, [](double share, const std::string&) { return share < 0.6; });
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
    EXPECT_THAT(names(), UnorderedElementsAre("first"));
    ASSERT_TRUE(import());
    EXPECT_THAT(names(), UnorderedElementsAre("first", "second"));
}

}  // namespace
}  // namespace stepscope::test
