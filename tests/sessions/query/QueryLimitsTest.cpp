// What a query may not: write, reach outside, run for ever, take all memory; and what a hostile file cannot do to one. Always one sentence, with the
// place where there is one.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <array>
#include <chrono>
#include <thread>

#include "tests/sessions/query/QueryFixture.h"

using namespace stepscope;
using namespace stepscope::test;
using testing::HasSubstr;
using testing::StartsWith;

struct QueryLimitsOf : QueryFixture {
    void damage(const std::string& sql) {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, static_cast<int*>(nullptr));
        database.exec(sql);
    }
    static double secondsOf(const std::function<void()>& body) {
        const auto began = std::chrono::steady_clock::now();
        body();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
};

TEST_F(QueryLimitsOf, WritingAndReachingOutsideAreRefusedInASentence) {
    record(everything());
    const std::string before = contentOf(path);
    for (const char* sql : {"DELETE FROM op",
                            "INSERT INTO steps VALUES (1)",
                            "UPDATE op SET name = 'x'",
                            "CREATE TABLE t (x)",
                            "CREATE TEMP VIEW v AS SELECT 1",
                            "DROP TABLE op",
                            "ALTER TABLE steps ADD COLUMN x",
                            "ATTACH ':memory:' AS other",
                            "PRAGMA user_version",
                            "PRAGMA writable_schema = 1",
                            "VACUUM",
                            "VACUUM INTO '/tmp/stepscope-query-test.db'",
                            "BEGIN",
                            "REINDEX",
                            "ANALYZE",
                            "SAVEPOINT a",
                            "WITH x AS (SELECT 1) DELETE FROM op",
                            "WITH x AS (SELECT 1) INSERT INTO op (name) SELECT * FROM x",
                            "EXPLAIN DELETE FROM op",
                            "SELECT load_extension('libm.so')",
                            "SELECT readfile('/etc/passwd')",
                            "SELECT writefile('x', 'y')",
                            "SELECT * FROM sqlite_schema",
                            "SELECT * FROM sqlite_temp_master",
                            "SELECT * FROM pragma_database_list",
                            "SELECT * FROM pragma_table_info('op')",
                            "SELECT * FROM dbstat",
                            "SELECT * FROM main.sessions",
                            "SELECT fts3_tokenizer('simple')",
                            "SELECT sqlite_compileoption_get(1)",
                            "SELECT randomblob(10)",
                            "SELECT * FROM sessions",
                            "SELECT 1; DELETE FROM op",
                            "SELECT 1; SELECT 2",
                            "SELECT ?1",
                            "SELECT :name",
                            "",
                            " -- nothing\n ; ",
                            "/* open",
                            ".tables",
                            "SELEC 1",
                            "SELECT * FROM",
                            "SELECT nme FROM op",
                            "SELECT name FROM opp",
                            "SELECT \"name FROM op",
                            "SELECT 'a",
                            "SELECT sum(name, 1) FROM op",
                            "SELECT name FROM op WHERE sum(dur_ns) > 1",
                            "CREATE VIRTUAL TABLE temp.op USING op"}) {
        const auto result = run(sql);
        ASSERT_FALSE(result) << sql << ": " << asText(*result);
        EXPECT_EQ(result.error().code, ErrorCode::BadInput) << sql;
        EXPECT_FALSE(result.error().sentence.empty());
        EXPECT_LT(result.error().sentence.size(), 400u) << sql;
        EXPECT_TRUE(result.error().sentence.ends_with('.') || result.error().sentence.ends_with('?')) << result.error().sentence;
        EXPECT_EQ(result.error().sentence.find('\n'), std::string::npos) << sql;
    }
    EXPECT_EQ(contentOf(path), before);
    EXPECT_THAT(refusal("DELETE FROM op"), HasSubstr("can only read, and DELETE would not"));
    EXPECT_THAT(refusal("SELECT * FROM main.steps"), StartsWith("it ran")) << "main is the database in memory, where views are all there is";
    EXPECT_THAT(refusal("SELECT load_extension('x')"), HasSubstr("load_extension() is not for queries"));
}

TEST_F(QueryLimitsOf, MistakesHaveTheirPlace) {
    record({});
    auto query = SessionQuery::open(path, 1);
    EXPECT_THAT((*query)->run("SELECT name,\n  üö, nme\nFROM op").error().sentence, HasSubstr("line 2, column 3"));
    ASSERT_TRUE((*query)->wrongAt());
    EXPECT_EQ((*query)->wrongAt()->line, 2);
    EXPECT_THAT((*query)->run("SELECT start_n FROM op").error().sentence,
                HasSubstr("line 1, column 8: there is no column \"start_n\"; is it start_ns?"));
    EXPECT_THAT((*query)->run("SELECT 1 FROM kernels").error().sentence, HasSubstr("there is no view \"kernels\"; there are op, kernel"));
    EXPECT_THAT((*query)->run("SELECT 1\n;\n SELECT 2").error().sentence, HasSubstr("line 3, column 2: a query is one statement"));
    EXPECT_TRUE((*query)->run("SELECT 1; -- and no more\n ;"));
    EXPECT_FALSE((*query)->wrongAt());
}

TEST_F(QueryLimitsOf, WhatRunsForEverEndsAtItsTime) {
    record(everything());
    const std::string endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    std::string doubling = "WITH c0 AS (SELECT 1 AS x)";
    for (int i = 1; i < 60; ++i) doubling += fmt::format(", c{0} AS (SELECT a.x FROM c{1} a, c{1} b)", i, i - 1);
    std::string summing = "WITH c0 AS (SELECT dur_ns AS x FROM op)";
    for (int i = 1; i < 60; ++i) summing += fmt::format(", c{0} AS (SELECT x + x AS x FROM c{1})", i, i - 1);
    for (const std::string& sql : std::vector<std::string>{
             endless, doubling + " SELECT count(*) FROM c59", summing + " SELECT x FROM c59",
             "WITH RECURSIVE n(x) AS (SELECT printf('%.60000c', 'a') UNION ALL SELECT x FROM n) SELECT count(*) FROM n WHERE x LIKE "
             "'%a%a%a%a%a%a%a%a%a%a%a%b'"}) {
        std::string said;
        const double took = secondsOf([&] { said = refusal(sql, {.seconds = 0.3}); });
        EXPECT_THAT(said, StartsWith("The query was ended")) << sql.substr(0, 80);
        EXPECT_LT(took, 15) << sql.substr(0, 80);
    }
}

TEST_F(QueryLimitsOf, CancellingEndsItAtOnce) {
    record({});
    auto query = SessionQuery::open(path, 1);
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        (*query)->cancel();
    });
    const auto result = (*query)->run("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n");
    other.join();
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::Cancelled);
}

TEST_F(QueryLimitsOf, MemoryAndResultsAreBounded) {
    record({});
    const std::string many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    const auto sorted = run(many + "SELECT x FROM n ORDER BY -x", {.memory = 20 << 20});
    ASSERT_FALSE(sorted);
    EXPECT_EQ(sorted.error().code, ErrorCode::OutOfMemory) << sorted.error().sentence;
    EXPECT_THAT(refusal(many + "SELECT printf('%1000d', x) FROM n", {.resultBytes = 1 << 20}), HasSubstr("larger than"));
    const auto cut = run(many + "SELECT x FROM n", {.rows = 10});
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->rows.size(), 10u);
    EXPECT_TRUE(cut->more);
    EXPECT_FALSE(run(many + "SELECT x FROM n LIMIT 10", {.rows = 10})->more);
    for (const char* sql :
         {"SELECT replace(printf('%.60000c', 'a'), 'a', 'bbbbbbbbbb')", "SELECT group_concat(printf('%.60000c', 'a')) FROM json_each('[1,2,3,4,5]')"})
        EXPECT_THAT(refusal(sql), HasSubstr("128 KiB")) << sql;
}

// SQLite has one code for both, and two sentences of its own.
TEST_F(QueryLimitsOf, ATextThatIsTooLongIsToldFromAValueThatIs) {
    record({});
    EXPECT_THAT(refusal("SELECT '" + std::string(110'000, 'x') + "'"), ::testing::AllOf(HasSubstr("it is longer than 100"), HasSubstr("bytes")));
    EXPECT_THAT(refusal("SELECT printf('%.70000c', 'a') || printf('%.70000c', 'a')"), HasSubstr("a value of it is longer than 128 KiB"));
}

TEST_F(QueryLimitsOf, WhatJoinsKeepCountsAgainstTheLimitOfMemory) {
    constexpr std::int64_t kSlices = 60'000;
    std::vector<Chunk> chunks;
    for (std::int64_t i = 0; i < kSlices;) {
        SliceBlock block{.thread = {.process = 1, .thread = 2}, .strings = {"", "x"}};
        for (const std::int64_t end = i + 5000; i < end; ++i)
            block.slices.push_back({.start = i * 10,
                                    .duration = 5,
                                    .name = 1,
                                    .kind = std::array{SliceKind::Operation, SliceKind::Kernel, SliceKind::Runtime}[static_cast<std::size_t>(i % 3)],
                                    .correlation = 1 + i / 3,
                                    .external = 1 + i / 3});
        chunks.push_back(encodeSlices(block));
    }
    record(chunks);
    // Each way of joining keeps all of these blocks, for each view that is joined so.
    const QueryLimits limits{.memory = 2 * kSlices * static_cast<std::int64_t>(sizeof(Slice))};
    const auto once = run("SELECT count(*) FROM op JOIN kernel ON kernel.external = op.external", limits);
    ASSERT_TRUE(once) << once.error().sentence;
    EXPECT_EQ(asText(*once), "20000\n");
    const auto thrice =
        run("SELECT count(*) FROM op JOIN kernel ON kernel.external = op.external JOIN runtime ON runtime.correlation = kernel.correlation"
            " JOIN kernel k2 ON k2.correlation = runtime.correlation",
            limits);
    ASSERT_FALSE(thrice);
    EXPECT_EQ(thrice.error().code, ErrorCode::OutOfMemory) << thrice.error().sentence;
}

TEST_F(QueryLimitsOf, LikeAndGlobAreThoseOfSqlite) {
    record({});
    SQLite::Database own(":memory:");
    std::mt19937 random(4);
    const auto word = [&](const std::string& letters, int most) {
        std::string made;
        for (int i = std::uniform_int_distribution(0, most)(random); i > 0; --i)
            made += letters[std::uniform_int_distribution<std::size_t>(0, letters.size() - 1)(random)];
        return made;
    };
    for (int round = 0; round < 300; ++round) {
        const std::string sql = fmt::format("SELECT '{0}' LIKE '{1}', '{0}' LIKE '{1}' ESCAPE 'x', '{0}' GLOB '{2}', '{0}' NOT LIKE '{1}'",
                                            word("abAx%_", 8), word("ab%_x", 6), word("ab*?[]^-A", 6));
        SQLite::Statement theirs(own, sql);
        std::string expected;
        try {
            theirs.executeStep();
            for (int c = 0; c < 4; ++c) expected += (c > 0 ? "|" : "") + theirs.getColumn(c).getString();
        } catch (const SQLite::Exception&) {
            continue;
        }
        EXPECT_EQ(text(sql), expected + "\n") << sql;
    }
    EXPECT_EQ(text("SELECT 'aä€😀z' LIKE 'a___z', 'äb' GLOB '?b', NULL LIKE 'a', 'a' LIKE NULL"), "1|1|NULL|NULL\n");
}

TEST_F(QueryLimitsOf, ViewsTriggersAndTablesOfAHostileFileAreNotMet) {
    record(everything(), {sampleStep(1), sampleStep(2)});
    damage("CREATE TABLE op (name TEXT); INSERT INTO op VALUES ('theirs')");
    damage("CREATE VIEW kernel AS SELECT 'theirs' AS name");
    damage("CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n");
    damage("CREATE TRIGGER harm AFTER INSERT ON steps BEGIN DELETE FROM sessions; END");
    EXPECT_EQ(text("SELECT DISTINCT name FROM op"), "aten::addmm\n");
    EXPECT_EQ(text("SELECT name FROM kernel"), "gemm\n");
    EXPECT_THAT(refusal("SELECT * FROM endless"), HasSubstr("there is no view"));
    // Where a view took the place of a table, the session is not read at all.
    damage("ALTER TABLE texts RENAME TO gone; CREATE VIEW texts AS SELECT *, load_extension('x') FROM gone");
    const auto theirs = run("SELECT * FROM texts");
    ASSERT_FALSE(theirs);
    EXPECT_EQ(theirs.error().code, ErrorCode::Damaged);
}

TEST_F(QueryLimitsOf, GeneratedColumnsOfAHostileFileDoNoHarm) {
    record({}, {sampleStep(1)});
    damage(
        "CREATE TABLE replaced (session, at_ns, seq, step, state, why AS (replace(hex(zeroblob(30000000)), '00', 'aaaa')), code, subject_kind, "
        "subject);"
        "INSERT INTO replaced (session, at_ns) VALUES (1, 1); ALTER TABLE states RENAME TO before; ALTER TABLE replaced RENAME TO states");
    const auto huge = run("SELECT length(why) FROM states");
    EXPECT_TRUE(!huge || asText(*huge).size() < 100);
}

TEST_F(QueryLimitsOf, LyingChunksAreOneSentence) {
    for (const char* lie :
         {"UPDATE chunks SET records = 1000000000", "UPDATE chunks SET records = records + 1", "UPDATE chunks SET bytes = 4000000000",
          "UPDATE chunks SET begin_ns = begin_ns - 1", "UPDATE chunks SET end_ns = begin_ns", "UPDATE chunks SET packed = x'28b52ffd00'"}) {
        folder.~TempFolder();
        new (&folder) TempFolder();
        path = folder.file("s.db");
        record(everything());
        damage(lie);
        const auto result = run("SELECT sum(op.dur_ns), count(*) FROM op JOIN kernel USING (external)");
        if (std::string(lie).find("begin_ns - 1") == std::string::npos) {
            ASSERT_FALSE(result) << lie << asText(*result);
            EXPECT_EQ(result.error().code, ErrorCode::Damaged) << lie << ": " << result.error().sentence;
        }
        EXPECT_EQ(text("SELECT count(*) FROM steps"), "0\n") << lie;
    }
    folder.~TempFolder();
    new (&folder) TempFolder();
    path = folder.file("s.db");
    record(everything());
    damage("UPDATE chunk_lanes SET records = 9000000000000000000, chunks = -5, longest_ns = -1, begin_ns = 9, end_ns = 1");
    EXPECT_TRUE(run("SELECT count(*) FROM op a JOIN kernel ON kernel.external = a.external")) << "what lanes say is for planning only";
}
