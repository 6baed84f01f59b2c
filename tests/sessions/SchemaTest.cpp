// The schema and its numbered steps.
#include "sessions/Connection.h"
#include "sessions/EventFields.h"
#include "sessions/Recorder.h"
#include "sessions/Schema.h"
#include "tests/sessions/TestSupport.h"

#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>

#include <array>

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
