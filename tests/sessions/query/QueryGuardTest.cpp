// What a query may call, read and take, asked of the guard itself on a connection with nothing in it: the first reason to end is the one that is
// told, patterns with characters of several bytes match as SQLite has them match, and a function that nobody looked at is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sessions/query/QueryGuard.h"

namespace stepscope::query {
namespace {

// One connection in memory, with or without a guard.
class InMemory {
public:
    explicit InMemory(QueryGuard* guard = nullptr) {
        sqlite3_open(":memory:", &m_connection);
        if (guard != nullptr) guard->watch(m_connection);
    }
    ~InMemory() { sqlite3_close(m_connection); }
    InMemory(const InMemory&) = delete;

    // The first row's values as "a|b"; what SQLite says where there is none.
    std::string ask(const std::string& sql, const std::vector<std::string>& values = {}) {
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(m_connection, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return sqlite3_errmsg(m_connection);
        for (std::size_t i = 0; i < values.size(); ++i)
            sqlite3_bind_text(statement, static_cast<int>(i) + 1, values[i].data(), static_cast<int>(values[i].size()), SQLITE_TRANSIENT);
        std::string row;
        if (sqlite3_step(statement) == SQLITE_ROW)
            for (int i = 0; i < sqlite3_column_count(statement); ++i) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
                row += (i > 0 ? "|" : "") + std::string(text == nullptr ? "NULL" : text);
            }
        else
            row = sqlite3_errmsg(m_connection);
        sqlite3_finalize(statement);
        return row;
    }
    sqlite3* get() const { return m_connection; }

private:
    sqlite3* m_connection = nullptr;
};

struct QueryGuardOf : testing::Test {
    std::atomic<bool> cancelled = false;
    QueryLimits limits;
};

TEST_F(QueryGuardOf, TheFirstReasonToEndIsTheOneThatIsTold) {
    QueryGuard guard(limits, cancelled);
    EXPECT_FALSE(guard.over());
    EXPECT_FALSE(guard.error());
    guard.fail(makeError(ErrorCode::Damaged, "A block is damaged."));
    guard.fail(makeError(ErrorCode::Io, "And another."));
    cancelled = true;
    EXPECT_TRUE(guard.over());
    EXPECT_EQ(guard.error()->sentence, "A block is damaged.");
}

TEST_F(QueryGuardOf, ACancelledQueryStaysCancelled) {
    QueryGuard guard(limits, cancelled);
    cancelled = true;
    EXPECT_TRUE(guard.over());
    cancelled = false;
    EXPECT_TRUE(guard.over());
    EXPECT_EQ(guard.error()->code, ErrorCode::Cancelled);
    EXPECT_TRUE(guard.overInside()) << "at once, without a look at the clock";
}

TEST_F(QueryGuardOf, ATimeThatCannotBeIsNoneAndOneWithoutEndIsLong) {
    for (const double none : {0.0, -1.0, -std::numeric_limits<double>::infinity()}) {
        limits.seconds = none;
        QueryGuard guard(limits, cancelled);
        while (!guard.over()) {
        }
        EXPECT_EQ(guard.error()->code, ErrorCode::BadInput) << none;
        EXPECT_THAT(guard.error()->sentence, testing::HasSubstr("ended at its limit of"));
    }
    for (const double endless : {1e6, 1e300, std::numeric_limits<double>::infinity()}) {
        limits.seconds = endless;
        QueryGuard guard(limits, cancelled);
        EXPECT_FALSE(guard.over()) << endless;
    }
}

TEST_F(QueryGuardOf, WithinAFunctionItLooksUpAtLastAfterAMillionComparisons) {
    limits.seconds = 0;
    QueryGuard guard(limits, cancelled);
    int looks = 0;
    while (!guard.overInside()) ASSERT_LT(++looks, 3 << 20);
    EXPECT_GT(looks, 1000) << "the clock is not asked each time";
}

TEST_F(QueryGuardOf, FunctionsThatReachOutsideOrTakeWhatTheyAreToldAreRefusedByName) {
    QueryGuard guard(limits, cancelled);
    InMemory plain, watched(&guard);
    const std::set<std::string> refused{"load_extension",
                                        "random",
                                        "randomblob",
                                        "zeroblob",
                                        "changes",
                                        "total_changes",
                                        "last_insert_rowid",
                                        "sqlite_version",
                                        "fts3_tokenizer",
                                        "rtreenode",
                                        "rtreedepth",
                                        "optimize",
                                        "matchinfo",
                                        "offsets",
                                        "sqlite_compileoption_get",
                                        "sqlite_compileoption_used",
                                        "json_insert",
                                        "json_set",
                                        "sqlite_source_id",
                                        "snippet"};
    sqlite3_stmt* functions = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(plain.get(), "SELECT name, max(narg, -1) FROM pragma_function_list", -1, &functions, nullptr), SQLITE_OK);
    int met = 0;
    while (sqlite3_step(functions) == SQLITE_ROW) {
        const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(functions, 0));
        if (!refused.contains(name)) continue;
        ++met;
        std::string call = fmt::format("SELECT {}(", name);
        const int arguments = sqlite3_column_int(functions, 1);
        for (int i = 0; i < (arguments < 0 ? 1 : arguments); ++i) call += i > 0 ? ", 1" : "1";
        EXPECT_THAT(watched.ask(call + ")"), testing::HasSubstr("not authorized")) << call;
        EXPECT_EQ(guard.refusal(), fmt::format("the function {}() is not for queries", name));
    }
    sqlite3_finalize(functions);
    EXPECT_GE(met, 9) << "those that every SQLite has";
    EXPECT_EQ(watched.ask("SELECT upper('a') || abs(-3) || round(2.5) || json_extract('{\"a\": 7}', '$.a') || ('[1,2]' ->> 1)"), "A33.072");
}

TEST_F(QueryGuardOf, OnlyReadingIsAllowedOnceItWatches) {
    QueryGuard guard(limits, cancelled);
    InMemory watched(&guard);
    for (const char* sql : {"CREATE TABLE t (x)", "CREATE TEMP TABLE t (x)", "PRAGMA user_version = 3", "ATTACH ':memory:' AS a", "BEGIN"})
        EXPECT_THAT(watched.ask(sql), testing::HasSubstr("not authorized")) << sql;
    EXPECT_EQ(watched.ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5) SELECT sum(x) FROM n"), "15");
    EXPECT_EQ(watched.ask("SELECT sum(value) FROM json_each('[1, 2, 3]')"), "6");
    (void)watched.ask("SELECT * FROM sqlite_schema");
    EXPECT_THAT(guard.refusal(), testing::HasSubstr("cannot be read by a query"));
    EXPECT_FALSE(guard.error()) << "a refusal is a mistake of the text, which can be mended and asked again";
}

TEST_F(QueryGuardOf, WhileAViewSaysItsColumnsThatIsNotTakenForMakingATable) {
    QueryGuard guard(limits, cancelled);
    InMemory watched(&guard);
    guard.setDeclaring(true);
    EXPECT_THAT(watched.ask("CREATE TEMP TABLE t (x)"), testing::Not(testing::HasSubstr("not authorized")));
    guard.setDeclaring(false);
    EXPECT_THAT(watched.ask("CREATE TEMP TABLE u (x)"), testing::HasSubstr("not authorized"));
}

TEST_F(QueryGuardOf, ValuesAndTextsHaveAnEnd) {
    QueryGuard guard(limits, cancelled);
    InMemory watched(&guard);
    EXPECT_EQ(watched.ask("SELECT length(printf('%.100000c', 'a'))"), "100000");
    EXPECT_THAT(watched.ask("SELECT length(printf('%.100000c', 'a') || printf('%.100000c', 'a'))"), testing::HasSubstr("too big"));
    EXPECT_THAT(watched.ask("SELECT '" + std::string(110'000, 'x') + "'"), testing::HasSubstr("too big"));
    std::string deep = "1";
    for (int i = 0; i < 300; ++i) deep = "(" + deep + " + 1)";
    EXPECT_THAT(watched.ask("SELECT " + deep), testing::AnyOf(testing::HasSubstr("too large"), testing::HasSubstr("overflow")));
}

std::string pieced(std::mt19937_64& random, const std::vector<std::string>& pieces, int most) {
    std::string made;
    for (auto left = random() % static_cast<std::uint64_t>(most + 1); left > 0; --left) made += pieces[random() % pieces.size()];
    return made;
}

TEST_F(QueryGuardOf, PatternsMatchAsTheyDoInSqliteWithCharactersOfAnyLength) {
    QueryGuard guard(limits, cancelled);
    InMemory own, watched(&guard);
    std::mt19937_64 random(23);
    const std::vector<std::string> letters{"a", "B", "é", "è", "€", "😀", "%", "_", "-", "]", "^"};
    const std::vector<std::string> like{"a", "b", "é", "è", "€", "%", "_", "😀", "%%"};
    const std::vector<std::string> glob{"a",    "B",     "é",      "€",    "*",    "?",      "[é]",  "[^é]",
                                        "[è€]", "[a-é]", "[^a-è]", "[]a]", "[^]]", "[é-€b]", "[a-]", "["};
    int matching = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::string text = pieced(random, letters, 6);
        const std::vector<std::string> likes{pieced(random, like, 5), text}, globs{pieced(random, glob, 5), text};
        EXPECT_EQ(watched.ask("SELECT ?2 LIKE ?1", likes), own.ask("SELECT ?2 LIKE ?1", likes)) << text << " LIKE " << likes[0];
        const std::string expected = own.ask("SELECT ?2 GLOB ?1", globs);
        EXPECT_EQ(watched.ask("SELECT ?2 GLOB ?1", globs), expected) << text << " GLOB " << globs[0];
        matching += expected == "1" ? 1 : 0;
    }
    EXPECT_GT(matching, 100) << "else nothing was tried";
}

TEST_F(QueryGuardOf, AClassOfOneCharacterIsNotOneOfItsBytes) {
    QueryGuard guard(limits, cancelled);
    InMemory watched(&guard);
    EXPECT_EQ(watched.ask("SELECT 'é' GLOB '[é]', 'è' GLOB '[é]', 'è' GLOB '[^é]', 'ê' GLOB '[è-ë]', 'z' GLOB '[è-ë]', '€' GLOB '[a-😀]'"),
              "1|0|1|1|0|1");
}

TEST_F(QueryGuardOf, EscapesOfAnyCharacterAreThoseOfSqlite) {
    QueryGuard guard(limits, cancelled);
    InMemory own, watched(&guard);
    std::mt19937_64 random(29);
    for (int round = 0; round < 1000; ++round) {
        const std::string escape = std::vector<std::string>{"x", "€", "\\", "a"}[random() % 4];
        const std::vector<std::string> values{pieced(random, {"a", "b", "%", "_", escape, escape + "%", escape + "_"}, 5),
                                              pieced(random, {"a", "b", "%", "_", "€", "x"}, 5), escape};
        EXPECT_EQ(watched.ask("SELECT ?2 LIKE ?1 ESCAPE ?3", values), own.ask("SELECT ?2 LIKE ?1 ESCAPE ?3", values))
            << values[1] << " LIKE " << values[0] << " ESCAPE " << escape;
    }
    EXPECT_THAT(watched.ask("SELECT 'a' LIKE 'a' ESCAPE ''"), testing::HasSubstr("single character"));
    EXPECT_THAT(watched.ask("SELECT 'a' LIKE 'a' ESCAPE 'xy'"), testing::HasSubstr("single character"));
}

TEST_F(QueryGuardOf, BytesThatAreNoTextDoNoHarmToAPattern) {
    QueryGuard guard(limits, cancelled);
    InMemory watched(&guard);
    std::mt19937_64 random(31);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> values(2);
        for (auto& value : values)
            for (auto left = random() % 12; left > 0; --left)
                value += static_cast<char>(random() % 3 == 0 ? std::string_view("*?[]^-%_")[random() % 8] : random() % 256);
        for (const char* sql : {"SELECT ?2 LIKE ?1", "SELECT ?2 GLOB ?1"}) EXPECT_THAT(watched.ask(sql, values), testing::AnyOf("0", "1"));
    }
    EXPECT_THAT(watched.ask("SELECT 'a' GLOB ?1", {std::string(10'001, '*')}), testing::HasSubstr("too complex"));
    EXPECT_EQ(watched.ask("SELECT 'a' GLOB ?1", {std::string(10'000, '*')}), "1");
}

}  // namespace
}  // namespace stepscope::query
