// How SQLite asks a view: which bounds and numbers of a question reach its source, that they never leave out a row that SQLite would have kept, and
// that what goes wrong inside a source comes out as its own sentence. The source is a list of this test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sessions/query/RowSource.h"

namespace stepscope::query {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();

struct ListedRow {
    std::int64_t at = 0;
    Cell number, value;
};

// Gives no more than it was asked for, as the sources of a session do, and keeps what that was.
class ListedSource final : public RowSource {
public:
    explicit ListedSource(const QueryView& view) : RowSource(view) {}
    std::vector<int> keys() const override { return {1}; }
    double expectedRows() override { return expected; }
    std::unique_ptr<Rows> rows(const Asked& asked) override {
        asks.push_back(asked);
        return std::make_unique<Listed>(*this, asked);
    }

    std::vector<ListedRow> list;
    std::vector<Asked> asks;
    double expected = 1000;
    std::function<Result<bool>()> instead;  // of a row

private:
    class Listed final : public Rows {
    public:
        Listed(ListedSource& source, const Asked& asked) : m_source(source), m_asked(asked) {}
        Result<bool> next() override {
            if (m_source.instead) return m_source.instead();
            for (; m_next < m_source.list.size(); ++m_next) {
                m_row = &m_source.list[m_next];
                const auto* number = std::get_if<std::int64_t>(&m_row->number);
                if (m_row->at < m_asked.from || m_row->at > m_asked.to) continue;
                if (m_asked.key && (number == nullptr || *number != m_asked.key->second)) continue;
                ++m_next;
                return true;
            }
            return false;
        }
        Cell cell(int column) override { return column == 0 ? Cell(m_row->at) : column == 1 ? m_row->number : m_row->value; }

    private:
        ListedSource& m_source;
        Asked m_asked;
        std::size_t m_next = 0;
        const ListedRow* m_row = nullptr;
    };
};

struct QueryModule : testing::Test {
    QueryView facts{"listed", "", {{"at", "integer", ""}, {"number", "integer", ""}, {"value", "any", ""}}};
    std::atomic<bool> cancelled = false;
    QueryLimits limits;
    RowSources sources;
    ListedSource* source = nullptr;
    std::unique_ptr<QueryGuard> guard;
    sqlite3* connection = nullptr;

    void SetUp() override {
        guard = std::make_unique<QueryGuard>(limits, cancelled);
        auto made = std::make_unique<ListedSource>(facts);
        source = made.get();
        sources.push_back(std::move(made));
        ASSERT_EQ(sqlite3_open(":memory:", &connection), SQLITE_OK);
        guard->watch(connection);
        ASSERT_TRUE(addViews(connection, sources, *guard));
    }
    void TearDown() override { sqlite3_close(connection); }

    // Rows as "a|b", or what SQLite says of it.
    std::vector<std::string> ask(const std::string& sql) {
        source->asks.clear();
        sqlite3_stmt* statement = nullptr;
        if (sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return {sqlite3_errmsg(connection)};
        std::vector<std::string> rows;
        int rc = SQLITE_ROW;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            std::string row;
            for (int i = 0; i < sqlite3_column_count(statement); ++i) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
                row += (i > 0 ? "|" : "") + std::string(text == nullptr ? "NULL" : text);
            }
            rows.push_back(row);
        }
        sqlite3_finalize(statement);
        if (rc != SQLITE_DONE) rows.push_back(sqlite3_errstr(rc));
        return rows;
    }
    Asked onlyAsk() const {
        EXPECT_EQ(source->asks.size(), 1U);
        return source->asks.empty() ? Asked() : source->asks.front();
    }
};

TEST_F(QueryModule, BoundsOfTheTimeReachTheSource) {
    const auto bounds = [&](const std::string& where) {
        EXPECT_TRUE(ask("SELECT * FROM listed WHERE " + where).empty());
        return std::pair(onlyAsk().from, onlyAsk().to);
    };
    EXPECT_EQ(bounds("1"), std::pair(kLeast, kMost));
    EXPECT_EQ(bounds("at >= 5"), std::pair(std::int64_t{5}, kMost));
    EXPECT_EQ(bounds("at BETWEEN 5 AND 9"), (std::pair<std::int64_t, std::int64_t>(5, 9)));
    EXPECT_EQ(bounds("at = 7"), (std::pair<std::int64_t, std::int64_t>(7, 7)));
    EXPECT_EQ(bounds("at <= -9223372036854775807"), std::pair(kLeast, kLeast + 1));
    EXPECT_EQ(bounds("at > 4.5 AND at < 8.5"), (std::pair<std::int64_t, std::int64_t>(4, 9))) << "wider than asked, never narrower";
    EXPECT_EQ(bounds("at > -4.5 AND at < -2.5"), (std::pair<std::int64_t, std::int64_t>(-5, -2)));
    EXPECT_EQ(bounds("at < 1e300 AND at > -1e300"), std::pair(kLeast, kMost)) << "what no time can be bounds nothing";
    EXPECT_EQ(bounds("at > 'a text'"), std::pair(kLeast, kMost));
    EXPECT_EQ(bounds("at > 5 OR value = 1"), std::pair(kLeast, kMost)) << "neither has to hold";
    EXPECT_EQ(bounds("at + 0 > 5"), std::pair(kLeast, kMost));
}

TEST_F(QueryModule, WhatIsComparedWithNothingHasNoRowsAndIsNotRead) {
    source->list = {{1, std::int64_t{1}, std::int64_t{1}}, {2, Cell(), std::int64_t{2}}};
    const std::string nothing = "(SELECT NULL AS n LIMIT 1)";
    for (const char* where : {"listed.number = n", "at = n", "at > n", "at <= n", "at > 0 AND at < n"}) {
        EXPECT_TRUE(ask("SELECT value FROM " + nothing + " CROSS JOIN listed WHERE " + where).empty()) << where;
        EXPECT_TRUE(source->asks.empty()) << where << ": a join with very many unknown numbers would read everything for each";
    }
    EXPECT_THAT(ask("SELECT value FROM " + nothing + " CROSS JOIN listed WHERE number IS n"), testing::ElementsAre("2"))
        << "unknown is unknown, and that has to be looked for";
}

TEST_F(QueryModule, ANumberThatAJoinBringsIsLookedUpAndOneThatIsWrittenDownIsNot) {
    for (std::int64_t i = 0; i < 50; ++i) source->list.push_back({i, i % 10, i});
    source->expected = 1e6;
    EXPECT_EQ(ask("SELECT value FROM (SELECT column1 AS n FROM (VALUES (3), (7)) LIMIT 9) CROSS JOIN listed ON number = n").size(), 10U);
    ASSERT_EQ(source->asks.size(), 2U);
    EXPECT_EQ(source->asks[0].key, (std::pair<int, std::int64_t>(1, 3)));
    EXPECT_EQ(source->asks[1].key, (std::pair<int, std::int64_t>(1, 7)));
    EXPECT_EQ(ask("SELECT value FROM listed WHERE number = 3").size(), 5U);
    EXPECT_FALSE(onlyAsk().key) << "an index of everything costs more than one look";
}

TEST_F(QueryModule, ANumberWrittenOtherwiseFindsWhatSqliteTakesForEqual) {
    for (std::int64_t i = 0; i < 20; ++i) source->list.push_back({i, i, i});
    source->list.push_back({20, kMost, std::int64_t{20}});
    EXPECT_THAT(ask("SELECT value FROM (SELECT '5' AS n UNION ALL SELECT 6.0 UNION ALL SELECT 6.5 UNION ALL SELECT x'37' UNION ALL SELECT 'seven') "
                    "CROSS JOIN listed ON number = n"),
                testing::ElementsAre("5", "6"));
    EXPECT_THAT(ask("SELECT value FROM (SELECT 9223372036854775807 AS n) CROSS JOIN listed ON number = n"), testing::ElementsAre("20"));
    EXPECT_TRUE(ask("SELECT value FROM (SELECT 9.3e18 AS n) CROSS JOIN listed ON number = n").empty());
}

TEST_F(QueryModule, RowsAreThoseOfAnOrdinaryTableWhateverIsAsked) {
    std::mt19937_64 random(17);
    std::string values;
    for (int i = 0; i < 60; ++i) {
        const auto at = static_cast<std::int64_t>(random() % 40) - 20;
        const bool known = random() % 3 != 0;
        const auto number = static_cast<std::int64_t>(random() % 6);
        source->list.push_back({at, known ? Cell(number) : Cell(), std::int64_t{i}});
        values += (i > 0 ? ", (" : "(") + std::to_string(at) + ", " + (known ? std::to_string(number) : "NULL") + ", " + std::to_string(i) + ")";
    }
    const std::string plain =
        "(SELECT CAST(column1 AS INTEGER) AS at, CAST(column2 AS INTEGER) AS number, column3 AS value FROM (VALUES " + values + "))";
    const auto term = [&] {
        const auto any = [&](std::initializer_list<const char*> words) { return std::string(words.begin()[random() % words.size()]); };
        const std::string bound = any({"3", "-3", "0", "2.5", "-7.25", "'4'", "NULL", "1e19", "12"});
        if (random() % 3 == 0) return "x.number " + any({"=", "IS", ">", "IN (1, 2, "}) + " " + bound;
        return "x.at " + any({"=", "<", ">", "<=", ">=", "IS NOT", "BETWEEN -4 AND"}) + " " + bound;
    };
    std::string where;
    const auto asked = [&](const std::string& from) { return ask("SELECT x.value FROM " + from + " x WHERE " + where + " ORDER BY x.value"); };
    const auto joined = [&](const std::string& from) {
        return ask("SELECT y.value, x.value FROM " + plain + " y JOIN " + from + " x ON x.number = y.number AND x.at >= y.at WHERE " + where +
                   " ORDER BY 1, 2");
    };
    for (int round = 0; round < 400; ++round) {
        where.clear();
        for (int i = static_cast<int>(random() % 3); i >= 0; --i) {
            std::string one = term();
            if (one.find("IN (") != std::string::npos) one += ")";
            where += one;
            if (i > 0) where += random() % 3 == 0 ? " OR " : " AND ";
        }
        EXPECT_EQ(asked("listed"), asked(plain)) << where;
        if (round % 20 == 0) {
            EXPECT_EQ(joined("listed"), joined(plain)) << where;
        }
    }
}

TEST_F(QueryModule, RowsThatAreWhollyAlikeAreEachThereWhereTermsAreJoinedByOr) {
    for (int i = 0; i < 12; ++i) source->list.push_back({i / 3, std::int64_t{i % 2}, std::int64_t{7}});
    for (const char* terms : {"at >= 2 OR at <= 2", "at = 1 OR at = 1", "at < 2 OR number IN (0, 1)", "at = 3 OR at > 1"})
        EXPECT_EQ(ask(std::string("SELECT count(*) FROM listed WHERE ") + terms),
                  ask(std::string("SELECT count(*) FROM (SELECT at + 0 AS at, number FROM listed) WHERE ") + terms))
            << terms;
    EXPECT_THAT(ask("SELECT count(*) FROM listed WHERE at >= 2 OR at <= 2"), testing::ElementsAre("12"));
    EXPECT_THAT(ask("SELECT count(DISTINCT rowid) FROM listed"), testing::ElementsAre("12"));
}

TEST_F(QueryModule, ValuesKeepTheirType) {
    source->list = {{1, std::int64_t{kLeast}, Cell()},
                    {2, std::int64_t{0}, 0.5},
                    {3, std::int64_t{0}, std::string_view()},
                    {4, std::int64_t{0}, std::string_view("a\0b", 3)},
                    {5, std::int64_t{0}, std::numeric_limits<double>::quiet_NaN()},
                    {6, std::int64_t{0}, std::numeric_limits<double>::infinity()}};
    EXPECT_THAT(ask("SELECT typeof(value), length(CAST(value AS BLOB)) FROM listed"),
                testing::ElementsAre("null|NULL", "real|3", "text|0", "text|3", "null|NULL", "real|3"));
    EXPECT_THAT(ask("SELECT number FROM listed WHERE at = 1"), testing::ElementsAre("-9223372036854775808"));
}

TEST_F(QueryModule, WhatGoesWrongInASourceIsItsOwnSentence) {
    source->instead = []() -> Result<bool> { return makeError(ErrorCode::Damaged, "A block is damaged."); };
    EXPECT_THAT(ask("SELECT * FROM listed"), testing::ElementsAre(sqlite3_errstr(SQLITE_INTERRUPT)));
    ASSERT_TRUE(guard->error());
    EXPECT_EQ(guard->error()->sentence, "A block is damaged.");
}

TEST_F(QueryModule, NoExceptionPassesThroughSqlite) {
    source->instead = []() -> Result<bool> { throw std::bad_alloc(); };
    EXPECT_THAT(ask("SELECT * FROM listed"), testing::ElementsAre(sqlite3_errstr(SQLITE_INTERRUPT)));
    ASSERT_TRUE(guard->error());
    EXPECT_EQ(guard->error()->code, ErrorCode::OutOfMemory);
}

TEST_F(QueryModule, AnExceptionOfOursSaysThatItIsAMistake) {
    source->instead = []() -> Result<bool> { throw std::out_of_range("vector::at"); };
    (void)ask("SELECT * FROM listed");
    ASSERT_TRUE(guard->error());
    EXPECT_EQ(guard->error()->code, ErrorCode::Internal);
    EXPECT_THAT(guard->error()->sentence, testing::HasSubstr("report it"));
    EXPECT_EQ(guard->error()->cause, "vector::at");
}

TEST_F(QueryModule, ReadingEndsBetweenTwoRowsWhereItIsCancelled) {
    int given = 0;
    source->instead = [&]() -> Result<bool> {
        if (++given == 3) cancelled = true;
        EXPECT_LE(given, 3);
        return given < 100;
    };
    (void)ask("SELECT 1 FROM listed");
    ASSERT_TRUE(guard->error());
    EXPECT_EQ(guard->error()->code, ErrorCode::Cancelled);
    EXPECT_EQ(given, 3);
}

TEST_F(QueryModule, ViewsCannotBeMadeOrWritten) {
    EXPECT_THAT(ask("INSERT INTO listed VALUES (1, 2, 3)").front(), testing::HasSubstr("not authorized"));
    EXPECT_EQ(guard->refusal(), "a query can only read, and this would change something");
    EXPECT_THAT(ask("CREATE VIRTUAL TABLE other USING listed").front(), testing::HasSubstr("not authorized"));
}

TEST_F(QueryModule, ASourceThatExpectsNothingOrVeryMuchIsStillAsked) {
    source->list = {{1, std::int64_t{1}, std::int64_t{1}}};
    for (const double expected : {0.0, -5.0, 1e12}) {
        source->expected = expected;
        EXPECT_THAT(ask("SELECT a.value FROM listed a JOIN listed b ON a.number = b.number WHERE a.at > 0 AND b.at < 9"), testing::ElementsAre("1"))
            << expected;
    }
}

}  // namespace
}  // namespace stepscope::query
