// The schema and its numbered steps.
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/analysis/StudyHistory.h"
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

TEST(Schema, ARowOfALadderFromBeforeItsFieldsHasWhatItsSentenceSaidInThemAndKeepsItsOwnWords) {
    const std::string tooLate = "Not measured: the 290 s of this ladder were spent on its rungs. A larger budget measures it.";
    const std::string saysSame = "Too few pairs. It computes the same as the present settings, up to rounding.";
    const std::string saysOther = "Other arithmetic than the present settings: the loss may move.";
    struct Before {
        std::string state, why;
        StudyRow now;  // of it the fields that came, and its words
    };
    const std::vector<Before> all{
        {"measured", "Measured in session 3.", {.why = "", .keptSession = 3}},
        {"measured", "Measured in session 41. Too few pairs.", {.why = "Too few pairs.", .keptSession = 41}},
        {"measured", "Measured in session 3 by another version (Stepscope 0.9).", {.why = "", .keptSession = 3, .keptVersions = "Stepscope 0.9"}},
        {"measured",
         "Measured in session 3 by another version (Stepscope 0.9, LibTorch 2.10.0). Too few pairs (12). Two more minutes would decide.",
         {.why = "Too few pairs (12). Two more minutes would decide.", .keptSession = 3, .keptVersions = "Stepscope 0.9, LibTorch 2.10.0"}},
        {"skipped", tooLate, {.why = tooLate, .waits = true}},
        {"measured", tooLate, {.why = tooLate}},
        {"skipped", "It changes nothing here.", {.why = "It changes nothing here."}},
        {"measured", "", {.why = ""}},
        {"chosen", saysSame, {.why = saysSame, .arithmetic = "same"}},
        {"chosen", saysOther, {.why = saysOther, .arithmetic = "other"}},
        // What is no such sentence is left alone.
        {"measured", "Measured in session 0.", {.why = "Measured in session 0."}},
        {"measured", "Measured in session x.", {.why = "Measured in session x."}},
        {"measured", "Measured in session 3", {.why = "Measured in session 3"}},
        {"measured", "Measured in session 99999999999999999999.", {.why = "Measured in session 99999999999999999999."}},
        {"measured", "Measured in session 3 by another version (never closed", {.why = "Measured in session 3 by another version (never closed"}},
    };
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        SQLite::Database before(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        migrate(before, migrations().first(18));
        before.exec(
            "INSERT INTO sessions (id, name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters, train_tokens,"
            " validation_tokens, first_step, resumed_from, kind)"
            " VALUES (1, 'old', '', '[]', 'finished', '', 0, '{}', '{}', 256, 1, 1, 1, 0, '', 'ladder')");
        SQLite::Statement row(before,
                              "INSERT INTO study_rows VALUES (1, ?1, ?1, ?1, 'rung', ?2, '', '', '', ?3, '', 1.5, 1.4, 1.6, 1.5, 1.4, 1.6, 20, 1,"
                              " 1, 1, 0, 1.01, 12, 30)");
        for (std::size_t i = 0; i < all.size(); ++i) {
            row.reset();
            row.bind(1, static_cast<std::int64_t>(i + 1));
            row.bind(2, all[i].state);
            row.bind(3, all[i].why);
            row.exec();
        }
    }
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    const auto events = (*reader)->measurements(1);
    ASSERT_TRUE(events.ok()) << events.error().sentence;
    ASSERT_EQ(events->size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& row = std::get<StudyRow>(events->at(i));
        EXPECT_EQ(row.why, all[i].now.why) << all[i].why;
        EXPECT_EQ(row.keptSession, all[i].now.keptSession) << all[i].why;
        EXPECT_EQ(row.keptVersions, all[i].now.keptVersions) << all[i].why;
        EXPECT_EQ(row.waits, all[i].now.waits) << all[i].why;
        EXPECT_EQ(row.arithmetic, all[i].now.arithmetic) << all[i].why;
        EXPECT_EQ(row.pairs, 12) << "and the rest of it";
        EXPECT_EQ(row.seconds, 30);
        // Whoever reads it hears what was heard before.
        EXPECT_EQ(whyWords(row), all[i].why);
    }
}

TEST(Schema, ALadderFromBeforeTheFieldHasTheSessionThatItsSentenceNamedInIt) {
    struct Before {
        std::string kind, from;
        std::int64_t goesOnWith;
        std::string now;  // of resumed_from
    };
    const std::vector<Before> all{
        {"ladder", "session 3", 3, ""},
        {"ladder", "session 41", 41, ""},
        {"ladder", "", 0, ""},
        // What is no such sentence is left alone.
        {"ladder", "session 0", 0, "session 0"},
        {"ladder", "session 03", 0, "session 03"},
        {"ladder", "session 3 and more", 0, "session 3 and more"},
        {"ladder", "session 99999999999999999999", 0, "session 99999999999999999999"},
        {"ladder", "of session 3", 0, "of session 3"},
        {"run", "session 3", 0, "session 3"},  // a checkpoint's folder may be called so
    };
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        SQLite::Database before(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        migrate(before, migrations().first(20));
        SQLite::Statement row(before,
                              "INSERT INTO sessions (id, name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters,"
                              " train_tokens, validation_tokens, first_step, resumed_from, kind)"
                              " VALUES (?1, 'old', '', '[]', 'finished', '', 0, '{}', '{}', 256, 1, 1, 1, 0, ?2, ?3)");
        for (std::size_t i = 0; i < all.size(); ++i) {
            row.reset();
            row.bind(1, static_cast<std::int64_t>(i + 1));
            row.bind(2, all[i].from);
            row.bind(3, all[i].kind);
            row.exec();
        }
    }
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto info = (*reader)->info(static_cast<std::int64_t>(i + 1));
        ASSERT_TRUE(info.ok()) << info.error().sentence;
        EXPECT_EQ(info->goesOnWith, all[i].goesOnWith) << all[i].from;
        EXPECT_EQ(info->resumedFrom, all[i].now) << all[i].from;
        EXPECT_EQ(resumedFromWords(*info), all[i].from) << "whoever reads it hears what was heard before";
    }
}

TEST(Schema, AnEarlierImportNoneOfWhoseStepsTookAnyTimeHasNoTimes) {
    struct Before {
        const char* kind;
        std::vector<std::int64_t> durations;
        bool unknown;
    };
    const std::vector<Before> all{
        {"imported", {0, 0, 0}, true}, {"imported", {0, 5, 0}, false}, {"imported", {0}, false}, {"imported", {}, false}, {"run", {0, 0}, false}};
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        SQLite::Database before(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        migrate(before, migrations().first(22));
        SQLite::Statement row(before,
                              "INSERT INTO sessions (id, name, notes, tags, state, why, started_unix_ms, config, machine, vocabulary, parameters,"
                              " train_tokens, validation_tokens, first_step, resumed_from, kind)"
                              " VALUES (?1, 'old', '', '[]', 'finished', '', 0, 'null', 'null', 0, 0, 0, 0, 0, '', ?2)");
        SQLite::Statement step(
            before,
            "INSERT INTO steps (session, at_ns, seq, step, duration_ns, skipped, tokens, batch_ns, copy_ns, forward_ns, backward_ns,"
            " clip_ns, optimizer_ns, resident_bytes, allocated_bytes, page_faults, disturbed)"
            " VALUES (?1, ?2, ?2, ?2, ?3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");
        for (std::size_t i = 0; i < all.size(); ++i) {
            row.reset();
            row.bind(1, static_cast<std::int64_t>(i + 1));
            row.bind(2, all[i].kind);
            row.exec();
            for (std::size_t j = 0; j < all[i].durations.size(); ++j) {
                step.reset();
                step.bind(1, static_cast<std::int64_t>(i + 1));
                step.bind(2, static_cast<std::int64_t>(j + 1));
                step.bind(3, all[i].durations[j]);
                step.exec();
            }
        }
    }
    const auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().sentence;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto info = (*reader)->info(static_cast<std::int64_t>(i + 1));
        ASSERT_TRUE(info.ok()) << info.error().sentence;
        EXPECT_EQ(info->timesUnknown, all[i].unknown) << i;
    }
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
