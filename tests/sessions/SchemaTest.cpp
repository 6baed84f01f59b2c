// The schema and its numbered steps.
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "sessions/EventFields.h"
#include "sessions/Schema.h"
#include "sessions/SessionStore.h"
#include "sessions/file/Connection.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

TEST(Schema, IsNumberedFromOneWithoutGaps) {
    int expected = 0;
    for (const auto& step : migrations()) EXPECT_EQ(step.version, ++expected);
    EXPECT_EQ(schemaVersion(), expected);
}

TEST(Schema, MarksTheFileAsOurs) {
    const TempFolder folder;
    ASSERT_TRUE(Recorder::open({.path = folder.file("s.db")}, sampleInfo()));
    EXPECT_EQ(pragma(folder.file("s.db"), "application_id"), std::to_string(kApplicationId));
    EXPECT_EQ(pragma(folder.file("s.db"), "user_version"), std::to_string(schemaVersion()));
    EXPECT_EQ(pragma(folder.file("s.db"), "journal_mode"), "wal");
}

TEST(Schema, GrowsByTheStepsThatAreMissingAndKeepsWhatIsStored) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo("from before"));
        (*recorder)->publish(sampleStep(1));
        ASSERT_TRUE((*recorder)->finish());
    }
    std::vector<Migration> later(migrations().begin(), migrations().end());
    const int next = schemaVersion() + 1;
    later.push_back({next, "ALTER TABLE steps ADD COLUMN energy_j REAL;"});
    later.push_back({next + 1, "UPDATE steps SET energy_j = 2.5;"});
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    migrate(database, later);
    EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), next + 1);
    EXPECT_DOUBLE_EQ(database.execAndGet("SELECT energy_j FROM steps").getDouble(), 2.5);
    EXPECT_EQ(database.execAndGet("SELECT name FROM sessions").getString(), "from before");
    migrate(database, later);  // once is enough
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM steps").getInt(), 1);
}

TEST(Schema, AFileOfTheFirstVersionIsReadOnWithWhatItDoesNotKnowLeftUnknown) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        SQLite::Database first(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        migrate(first, migrations().first(1));
        first.exec(
            "INSERT INTO sessions (id, name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters, train_tokens,"
            " validation_tokens, first_step, resumed_from) VALUES (1, 'old', '', '[]', 'finished', '', 0, '{}', '{}', 256, 1, 1, 1, 0, '')");
        first.exec("INSERT INTO steps VALUES (1, 10, 1, 1, 5, 2.5, 0.1, 1.0, NULL, 0, 9, 1, 1, 1, 1, 1, 1, 7, 8, 3, 0)");
    }
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    EXPECT_EQ(pragma(path, "user_version"), std::to_string(schemaVersion()));
    const auto events = (*reader)->events(1, 0, 10);
    ASSERT_TRUE(events.ok()) << events.error().sentence;
    ASSERT_EQ(events->size(), 2u);
    EXPECT_EQ(std::get<StepDone>(events->at(1)).loss, 2.5);
    EXPECT_TRUE(std::isnan(std::get<StepDone>(events->at(1)).operations));
    EXPECT_TRUE(std::isnan(std::get<StepDone>(events->at(1)).peakBytes));
    EXPECT_EQ(std::get<StepDone>(events->at(1)).phaseNs, (std::array<std::int64_t, kPhases>{1, 1, 1, 1, 1, 1, 0})) << "nobody measured a wait";
}

TEST(Schema, AnExperimentFromBeforeTheLookAtTheEndSaysThatItHadNone) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        SQLite::Database before(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        migrate(before, migrations().first(10));
        before.exec(
            "INSERT INTO sessions (id, name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters, train_tokens,"
            " validation_tokens, first_step, resumed_from, kind)"
            " VALUES (1, 'old', '', '[]', 'finished', '', 0, '{}', '{}', 256, 1, 1, 1, 0, '', 'experiment')");
        before.exec("INSERT INTO experiments VALUES (1, 10, 1, 0, '{}', '{}', 'asked', 0, 1, 60, 0.01, 0.05, 0, '')");
        before.exec("INSERT INTO studies VALUES (1, 20, 2, 'ladder', '', '', '', '{}', 'asked', 60, 0.01, 0.05, 1, 3, 0, 0)");
    }
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    EXPECT_EQ((*reader)->info(1)->workers, 0) << "nobody counted them";
    const auto events = (*reader)->events(1, 0, 10);
    ASSERT_TRUE(events.ok()) << events.error().sentence;
    ASSERT_EQ(events->size(), 3u);
    EXPECT_FALSE(std::get<ExperimentBegan>(events->at(1)).finalLook);
    EXPECT_FALSE(std::get<StudyBegan>(events->at(2)).finalLook);
}

TEST(Schema, IsNotHalfMigratedWhenAStepFails) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(Recorder::open({.path = path}, sampleInfo()));
    std::vector<Migration> later(migrations().begin(), migrations().end());
    const int next = schemaVersion() + 1;
    later.push_back({next, "CREATE TABLE fresh (x);"});
    later.push_back({next + 1, "THIS IS NOT SQL;"});
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    EXPECT_THROW(migrate(database, later), SQLite::Exception);
    EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), schemaVersion());
    EXPECT_FALSE(database.tableExists("fresh"));
}
