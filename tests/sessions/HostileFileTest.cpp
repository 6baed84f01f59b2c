// A database that is ours by its header and not by what is in it: tables that are gone or something else, rows that mean nothing, numbers at the end
// of their range. One sentence, the code for damage, and as little as possible hidden.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <sstream>

#include "core/trace/SliceCodec.h"
#include "sessions/Replayer.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/Csv.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/exporters/PerfettoTrace.h"
#include "sessions/findings/Experiments.h"
#include "sessions/findings/MeasuredFlips.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct HostileFile : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::int64_t record(const std::string& name, int steps = 30) {
        auto recorder = Recorder::open({.path = path}, sampleInfo(name));
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        for (int step = 1; step <= steps; ++step) (*recorder)->publish(sampleStep(step));
        (*recorder)->publish(SwitchApplied{15, {15'500'000}, "amp", std::string("off"), std::string("bf16"), ""});
        (*recorder)->publish(StateChanged{{steps * 1'000'000LL + 1}, steps, RunState::Finished, ""});
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    }
    void change(const std::string& sql) { SQLite::Database(path, SQLite::OPEN_READWRITE, 5000).exec(sql); }
};

}  // namespace

TEST_F(HostileFile, WithoutATableIsDamagedAndNeverAMistakeOfStepscope) {
    record("first");
    change("DROP TABLE steps");
    KeepingSink sink;
    const auto reader = SessionReader::open(path);
    const auto replayer = Replayer::open(path, 1, sink);
    const auto flips = measuredFlips(path, *sampleInfo().machine);
    ASSERT_FALSE(reader);
    ASSERT_FALSE(replayer);
    ASSERT_FALSE(flips);
    for (const auto& error : {reader.error(), replayer.error(), flips.error()}) {
        EXPECT_EQ(error.code, ErrorCode::Damaged) << error.sentence << " " << error.cause;
        EXPECT_NE(error.sentence.find("not as Stepscope made them"), std::string::npos) << error.sentence;
        EXPECT_EQ(error.sentence.find("mistake"), std::string::npos);
        EXPECT_EQ(error.subject, (Subject{Subject::Kind::Database, path}));
    }
}

TEST_F(HostileFile, WhoseTableGoesEndsTheRecordingWithASentenceInsteadOfHoldingTheRun) {
    std::atomic<int> blocked = 0, ended = 0;
    Error why;
    auto recorder = Recorder::open({.path = path,
                                    .queueCapacity = 100,
                                    .onBlocked = [&](bool on, const std::string&) { blocked += on; },
                                    .onEnded =
                                        [&](const Error& error) {
                                            why = error;
                                            ++ended;
                                        }},
                                   sampleInfo());
    (*recorder)->publish(sampleStep(1));
    (*recorder)->flush();
    change("ALTER TABLE steps RENAME TO gone; CREATE VIEW steps AS SELECT * FROM gone");
    (*recorder)->publish(sampleStep(2));
    EXPECT_TRUE(eventually([&] { return ended == 1; }));
    EXPECT_FALSE((*recorder)->blocked());
    for (int step = 3; step < 1000; ++step) (*recorder)->publish(sampleStep(step));  // nobody waits
    EXPECT_EQ(why.code, ErrorCode::Damaged);
    EXPECT_NE(why.sentence.find("Recording of session 1 ends here"), std::string::npos) << why.sentence;
    const Status done = (*recorder)->finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Damaged);
    EXPECT_EQ(blocked, 0);
    EXPECT_EQ(ended, 1);
}

TEST_F(HostileFile, MayHaveATriggerThatRefusesAndItIsNotAsked) {
    record("first");
    change("CREATE TRIGGER refuse BEFORE INSERT ON steps BEGIN SELECT RAISE(ABORT, 'no'); END");
    const auto session = record("second", 5);
    EXPECT_EQ(stepsOf(storedEvents(path, session)).size(), 5u);
}

TEST_F(HostileFile, WithAViewThatNeverEndsIsRefusedAtOnce) {
    record("first");
    change(
        "DROP TABLE validations; CREATE VIEW validations (session, at_ns, seq, step, duration_ns, loss) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL"
        " SELECT i + 1 FROM n) SELECT 1, i, i, i, 1, 1.0 FROM n");
    const auto begin = std::chrono::steady_clock::now();
    const auto reader = SessionReader::open(path);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::Damaged) << reader.error().sentence;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(HostileFile, WithOneBadRowShowsTheOthersAndNamesIt) {
    for (const char* bad : {"state = 'levitating'", "tags = '[1, {'", "tags = '[{\"a\":1}]'", "kind = 'poem'"}) {
        std::filesystem::remove(path);
        record("good");
        const auto session = record("bad");
        record("better");
        change(std::string("UPDATE sessions SET ") + bad + " WHERE id = " + std::to_string(session));
        auto reader = SessionReader::open(path);
        const auto list = (*reader)->list();
        ASSERT_TRUE(list) << bad << ": " << list.error().sentence;
        ASSERT_EQ(list->size(), 2u) << bad;
        EXPECT_EQ(list->at(0).name, "better");
        EXPECT_EQ(list->at(1).name, "good");
        ASSERT_EQ((*reader)->unreadable().size(), 1u);
        const Error& left = (*reader)->unreadable().front();
        EXPECT_EQ(left.subject, (Subject{Subject::Kind::Session, std::to_string(session)}));
        EXPECT_NE(left.sentence.find("Session " + std::to_string(session)), std::string::npos) << left.sentence;
        EXPECT_TRUE(deleteSession(path, session)) << "it can be removed";
        EXPECT_TRUE((*reader)->list().ok());
        EXPECT_TRUE((*reader)->unreadable().empty());
    }
}

TEST_F(HostileFile, WithNumbersAtTheEndOfTheirRangeIsRefusedWithASentence) {
    record("first");
    const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
    change("UPDATE sessions SET first_step = " + most);
    const auto info = (*SessionReader::open(path))->info(1);
    ASSERT_FALSE(info);
    EXPECT_EQ(info.error().code, ErrorCode::Damaged);
    EXPECT_TRUE(measuredFlips(path, *sampleInfo().machine).ok()) << "steps are compared by time";
    change("UPDATE sessions SET first_step = 0; UPDATE log_lines SET at_ns = " + most + "; UPDATE states SET at_ns = -5");
    const auto events = (*SessionReader::open(path))->events(1, 0, 1000);
    ASSERT_FALSE(events);
    EXPECT_EQ(events.error().code, ErrorCode::Damaged);
    change("DELETE FROM states; UPDATE steps SET step = " + most + " WHERE step = 20");
    EXPECT_FALSE((*SessionReader::open(path))->events(1, 0, 1000));
}

TEST_F(HostileFile, WhoseEventsHaveNoTimeIsReadToAnEnd) {
    for (const char* table : {"steps", "states", "switches_applied"}) {
        std::filesystem::remove(path);
        record("first");
        change(fmt::format("UPDATE {0} SET at_ns = 'x' WHERE at_ns = (SELECT max(at_ns) FROM {0})", table));
        auto reader = SessionReader::open(path);
        std::int64_t read = 0;
        for (bool more = true; more && read < 10'000;) {
            const auto events = (*reader)->events(1, read, 10);
            more = events && !events->empty();
            if (!events) {
                EXPECT_EQ(events.error().code, ErrorCode::Damaged) << events.error().sentence;
            }
            if (more) read += static_cast<std::int64_t>(events->size());
        }
        EXPECT_LT(read, 100) << table;
        const auto written = exportCsvFile(path, 1, folder.file("out.csv"));
        ASSERT_FALSE(written) << table;
        EXPECT_EQ(written.error().code, ErrorCode::Damaged) << written.error().sentence;
    }
}

TEST_F(HostileFile, WhoseStoredJsonIsNestedWithoutMeasureIsExportedWithoutIt) {
    const auto nested = [](std::size_t deep) { return std::string(deep, '[') + std::string(deep, ']'); };
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo("an import"));
        ASSERT_TRUE(recorder);
        SliceBlock block{.thread = {.process = 1, .thread = 2}, .strings = {"", "aten::mm"}};
        block.arguments.push_back({.extra = R"({"deep": )" + nested(30'000) + "}"});
        block.arguments.push_back({.extra = R"({"shallow": )" + nested(300) + "}"});
        block.slices = {{.start = 1, .duration = 1, .name = 1, .arguments = 1}, {.start = 3, .duration = 1, .name = 1, .arguments = 2}};
        (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(block)));
        const std::string facts = R"({"facts": {"deviceProperties": )" + nested(1'000'000) + "}}";
        Chunk chunk{.kind = "trace-facts/1", .begin = {0}, .end = {0}, .count = 1, .bytes = {}};
        for (const char c : facts) chunk.bytes.push_back(static_cast<std::byte>(c));
        (*recorder)->publishChunk(std::make_shared<const Chunk>(std::move(chunk)));
        ASSERT_TRUE((*recorder)->finish());
    }
    std::ostringstream kineto, perfetto;
    ASSERT_TRUE(exportKinetoTrace(path, 1, kineto, "a trace"));
    EXPECT_NE(kineto.str().find("\"deviceProperties\": []"), std::string::npos);
    ASSERT_TRUE(exportPerfettoTrace(path, 1, perfetto));
    for (const std::string& written : {kineto.str(), perfetto.str()}) {
        EXPECT_EQ(written.find("deep"), std::string::npos);
        EXPECT_NE(written.find("shallow"), std::string::npos);
    }
}

TEST_F(HostileFile, AnAnswerThatCannotBeIsNotShownAsOne) {
    const auto judged = [] {
        ExperimentJudged one{.at = {29'000'000}, .over = true, .pair = 8, .outcome = "faster", .ratio = 1.2, .low = 1.1, .high = 1.3};
        one.pairs = 9;
        return one;
    };
    for (const char* bad : {"ratio = -5", "low = 9, high = 1", "pairs = -3", "outcome = 'won'", "low = 0.9", "outcome = 'slower'", "seconds = -1",
                            "ratio = 1e308", "floor = 1e308", "seconds = 9e999"}) {
        std::filesystem::remove(path);
        {
            auto recorder = Recorder::open({.path = path}, sampleInfo("asked"));
            ASSERT_TRUE(recorder);
            (*recorder)->publish(ExperimentBegan{.at = {1'000'000}, .question = "q"});
            (*recorder)->publish(judged());
            ASSERT_TRUE((*recorder)->finish());
        }
        ASSERT_TRUE((*SessionReader::open(path))->events(1, 0, 100)) << "as it was stored";
        change(std::string("UPDATE judgements SET ") + bad);
        const auto events = (*SessionReader::open(path))->events(1, 0, 100);
        ASSERT_FALSE(events) << bad;
        EXPECT_EQ(events.error().code, ErrorCode::Damaged);
        EXPECT_TRUE(earlierAnswers(path, "q").value().empty()) << bad;
    }
}

TEST_F(HostileFile, AQuestionWhoseSharesCannotBeIsNotShownAsOne) {
    for (const char* bad : {"alpha = 5", "alpha = 0", "delta = -1", "delta = 1e300", "budget_s = -1", "budget_s = 9e999"}) {
        for (const char* table : {"experiments", "studies"}) {
            std::filesystem::remove(path);
            {
                auto recorder = Recorder::open({.path = path}, sampleInfo("asked"));
                ASSERT_TRUE(recorder);
                (*recorder)->publish(ExperimentBegan{.at = {1'000'000}, .question = "q"});
                (*recorder)->publish(StudyBegan{.at = {2'000'000}, .kind = "ladder", .question = "q"});
                ASSERT_TRUE((*recorder)->finish());
            }
            ASSERT_TRUE((*SessionReader::open(path))->measurements(1)) << "as it was stored";
            change(std::string("UPDATE ") + table + " SET " + bad);
            const auto events = (*SessionReader::open(path))->measurements(1);
            ASSERT_FALSE(events) << table << " " << bad;
            EXPECT_EQ(events.error().code, ErrorCode::Damaged);
        }
    }
}

TEST_F(HostileFile, TextThatIsNoJsonIsNamedInOurOwnWords) {
    for (const char* bad : {"tags = '{bad'", "tags = '[1]'", "machine = '[]'", "machine = '{\"cores\":\"x\"}'"}) {
        std::filesystem::remove(path);
        record("first");
        change(std::string("UPDATE sessions SET ") + bad);
        const auto info = (*SessionReader::open(path))->info(1);
        ASSERT_FALSE(info) << bad;
        EXPECT_EQ(info.error().code, ErrorCode::Damaged);
        EXPECT_NE(info.error().sentence.find("a text that is broken, or not of the form that belongs there"), std::string::npos);
        EXPECT_EQ(info.error().sentence.find("json"), std::string::npos) << info.error().sentence;
        EXPECT_NE(info.error().cause.find("json"), std::string::npos) << "for who looks for the mistake";
    }
}

TEST_F(HostileFile, ANameThatFillsTheScreenIsCut) {
    record("first");
    change("UPDATE sessions SET name = replace(hex(zeroblob(3000000)), '0', 'n')");
    auto reader = SessionReader::open(path);
    EXPECT_LE((*reader)->list()->front().name.size(), 4000u);
    EXPECT_LE((*reader)->info(1)->name.size(), 4000u);
}

TEST_F(HostileFile, WithAMillionFlipsIsReadInBoundedTime) {
    record("first", 2000);
    change(
        "INSERT INTO switches_applied SELECT 1, 15600000 + i, i, 15, 'amp', 'off', 'bf16', '' FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT"
        " i + 1 FROM n WHERE i < 1000000) SELECT i FROM n)");
    const auto begin = std::chrono::steady_clock::now();
    const auto flips = measuredFlips(path, *sampleInfo().machine);
    ASSERT_TRUE(flips) << flips.error().sentence;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(HostileFile, ThatListsSessionsWithoutEndIsRefused) {
    record("first");
    SQLite::Database database(path, SQLite::OPEN_READWRITE, 5000);
    database.exec("CREATE TEMP TABLE one AS SELECT * FROM sessions");
    database.exec("UPDATE one SET id = NULL");
    database.exec(
        "INSERT INTO sessions SELECT one.* FROM one, (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001) SELECT i FROM "
        "n)");
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(reader);
    const auto listed = (*reader)->list();
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().code, ErrorCode::Damaged);
    EXPECT_THAT(listed.error().sentence, HasSubstr("lists more than 100"));
}

TEST_F(HostileFile, OneMachineThatDoesNotParseLeavesTheOthersFlips) {
    record("good", 100);
    const auto bad = record("bad", 100);
    change("UPDATE sessions SET machine = '{' WHERE id = " + std::to_string(bad));
    EXPECT_TRUE(measuredFlips(path, *sampleInfo().machine).ok());
}

TEST_F(HostileFile, IsMadeForItsOwnerAlone) {
    const auto before = ::umask(0);
    path = folder.file("data/deeper/s.db");
    auto recorder = Recorder::open({.path = path}, sampleInfo());
    ::umask(before);
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    (*recorder)->publish(sampleStep(1));
    (*recorder)->flush();
    const auto mode = [](const std::string& place) {
        struct stat status {};
        EXPECT_EQ(::stat(place.c_str(), &status), 0) << place;
        return status.st_mode & 0777;
    };
    EXPECT_EQ(mode(folder.file("data")), 0700u);
    EXPECT_EQ(mode(folder.file("data/deeper")), 0700u);
    for (const char* end : {"", "-wal", "-shm", ".lock"}) EXPECT_EQ(mode(path + end), 0600u) << end;
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.file("data/deeper"))) ++files;
    EXPECT_EQ(files, 4u) << "nothing is left of making them";
}

TEST_F(HostileFile, APipeBesideItIsNotWaitedFor) {
    record("first");
    for (const char* end : {".lock", "-journal"}) {
        std::filesystem::remove(path + end);
        ASSERT_EQ(::mkfifo((path + end).c_str(), 0600), 0);
        const auto reader = SessionReader::open(path);
        EXPECT_EQ(reader.ok(), std::string(end) == ".lock");
        if (reader) {
            EXPECT_EQ((*reader)->list()->size(), 1u) << end;
        }
        if (std::string(end) == "-journal") {
            ASSERT_FALSE(reader);
            EXPECT_NE(reader.error().sentence.find("s.db-journal\" is not a file"), std::string::npos) << reader.error().sentence;
        }
        std::filesystem::remove(path + end);
    }
}

TEST_F(HostileFile, ALinkInPlaceOfTheLockIsNotFollowed) {
    writeFile(folder.file("precious"), "precious");
    std::filesystem::create_symlink(folder.file("precious"), path + ".lock");
    const auto recorder = Recorder::open({.path = path}, sampleInfo());
    ASSERT_FALSE(recorder);
    EXPECT_NE(recorder.error().sentence.find("lock file"), std::string::npos) << recorder.error().sentence;
    EXPECT_EQ(contentOf(folder.file("precious")), "precious");
}

TEST_F(HostileFile, ALinkToADatabaseThatIsNotThereYetIsFollowed) {
    std::filesystem::create_symlink(folder.file("real.db"), path);
    record("first");
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    EXPECT_TRUE(std::filesystem::exists(folder.file("real.db")));
}
