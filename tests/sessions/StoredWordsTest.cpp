// The words that stand for states, kinds and codes in people's databases: none is ever renamed, each is read back, and what is none is refused. And
// what of a value SQLite does not keep by itself.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "sessions/Columns.h"

namespace stepscope {
namespace {

// Every value of an enumeration, in its order.
template <class E, class Write, class Read>
void keepTheirWords(const std::vector<std::string>& words, Write write, Read read) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = static_cast<E>(i);
        EXPECT_EQ(write(value), words[i]);
        EXPECT_EQ(read(words[i]), value) << words[i];
    }
    for (const char* none : {"nothing of the kind", " ", "0", "RUNNING"}) EXPECT_THROW(read(none), std::invalid_argument) << none;
}

TEST(StoredWords, OfStatesKindsAndCodesStayAndAreReadBack) {
    keepTheirWords<RunState>(
        {"preparing", "running", "paused", "finished", "stopped", "failed", "interrupted"},
        [](RunState state) { return std::string(toString(state)); }, runStateFrom);
    keepTheirWords<SessionKind>(
        {"run", "experiment", "imported", "ladder", "tune"}, [](SessionKind kind) { return std::string(toString(kind)); }, sessionKindFrom);
    keepTheirWords<ErrorCode>(
        {"bad-input", "not-found", "unsupported", "out-of-memory", "io", "damaged", "training", "cancelled", "internal"},
        [](ErrorCode code) { return std::string(toString(code)); }, errorCodeFrom);
    keepTheirWords<Subject::Kind>(
        {"", "database", "session", "checkpoint", "data", "key", "switch", "text", "file", "loss", "capture"},
        [](Subject::Kind kind) { return std::string(toString(kind)); }, subjectKindFrom);
    keepTheirWords<Arm>(
        {"A", "B"}, [](Arm arm) { return std::string(toString(arm)); }, armFrom);
    keepTheirWords<LogLevel>(
        {"info", "warning", "error"}, [](LogLevel level) { return std::string(wordOf(level)); }, logLevelFrom);
    EXPECT_EQ(sessionKindFrom("trace"), SessionKind::Trace) << "as the first versions had it";
}

TEST(StoredWords, ValuesKeepTheirKindAndUnknownNumbersTheirNothing) {
    SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE t (a, b, c, d, e REAL, f TEXT, g INTEGER)");
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    {
        SQLite::Statement insert(database, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)");
        RowWriter write(insert);
        const Value whole(kMost), real(2.0), digits(std::string("007")), unknown(kUnknown);
        write("a", whole);
        write("b", real);
        write("c", digits);
        write("d", unknown);
        write("e", kUnknown);
        write("f", std::optional<ErrorCode>());
        write("g", true);
        insert.exec();
    }
    SQLite::Statement select(database, "SELECT * FROM t");
    ASSERT_TRUE(select.executeStep());
    RowReader read(select);
    Value whole, real, digits, unknown;
    double number = 0;
    std::optional<ErrorCode> code = ErrorCode::Io;
    bool yes = false;
    read("a", whole);
    read("b", real);
    read("c", digits);
    read("d", unknown);
    read("e", number);
    read("f", code);
    read("g", yes);
    EXPECT_EQ(whole, Value(kMost));
    EXPECT_EQ(real, Value(2.0)) << "a whole real is no integer";
    EXPECT_EQ(digits, Value(std::string("007"))) << "a text of digits is no number";
    ASSERT_TRUE(std::holds_alternative<double>(unknown));
    EXPECT_TRUE(std::isnan(std::get<double>(unknown)));
    EXPECT_TRUE(std::isnan(number));
    EXPECT_FALSE(code.has_value());
    EXPECT_TRUE(yes);
}

}  // namespace
}  // namespace stepscope
