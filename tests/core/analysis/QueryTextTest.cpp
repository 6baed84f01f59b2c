// In which order a query's values are sorted, and what they are as text: whole numbers and reals beside each other beyond what a double can tell
// apart, and what CSV must quote.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/query/QueryText.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastWhole = std::numeric_limits<std::int64_t>::min(), kMostWhole = std::numeric_limits<std::int64_t>::max();

// In a type that holds every number of both kinds exactly.
int byLongDouble(const QueryValue& a, const QueryValue& b) {
    const auto number = [](const QueryValue& value) {
        const auto* whole = std::get_if<std::int64_t>(&value);
        return whole != nullptr ? static_cast<long double>(*whole) : static_cast<long double>(std::get<double>(value));
    };
    return number(a) < number(b) ? -1 : number(a) > number(b) ? 1 : 0;
}

TEST(QueryText, WholeNumbersAndRealsAreOrderedExactlyWhereDoublesAreTooCoarse) {
    const QueryValue real(9'007'199'254'740'992.0);  // 2^53
    EXPECT_TRUE(queryLess(QueryValue(std::int64_t{9'007'199'254'740'991}), real));
    EXPECT_FALSE(queryLess(QueryValue(std::int64_t{9'007'199'254'740'992}), real));
    EXPECT_FALSE(queryLess(real, QueryValue(std::int64_t{9'007'199'254'740'992})));
    EXPECT_TRUE(queryLess(real, QueryValue(std::int64_t{9'007'199'254'740'993}))) << "as a double it would be the same";
    EXPECT_FALSE(queryLess(QueryValue(std::int64_t{9'007'199'254'740'993}), real));
}

TEST(QueryText, TheEndsOfWholeNumbersLieWithinLargerReals) {
    const QueryValue most(kMostWhole), least(kLeastWhole);
    EXPECT_TRUE(queryLess(most, QueryValue(0x1p63))) << "2^63 is one more than the largest";
    EXPECT_FALSE(queryLess(QueryValue(0x1p63), most));
    EXPECT_FALSE(queryLess(least, QueryValue(-0x1p63)));
    EXPECT_FALSE(queryLess(QueryValue(-0x1p63), least));
    EXPECT_TRUE(queryLess(QueryValue(-1e300), least));
    EXPECT_TRUE(queryLess(most, QueryValue(std::numeric_limits<double>::infinity())));
    EXPECT_TRUE(queryLess(QueryValue(-std::numeric_limits<double>::infinity()), least));
}

TEST(QueryText, OfAnyNumbersTheOrderIsOne) {
    if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "nothing here tells all whole numbers apart as reals";
    std::mt19937_64 random(31);
    std::vector<QueryValue> values{QueryValue(0.0), QueryValue(std::int64_t{0}), QueryValue(-0.5), QueryValue(kMostWhole), QueryValue(kLeastWhole)};
    for (int i = 0; i < 60; ++i) {
        // Neighbours of one place between 1 and 2^63, of both kinds.
        const auto place = static_cast<std::int64_t>((random() >> 1) >> (random() % 63));
        const std::int64_t sign = random() % 2 == 0 ? 1 : -1;
        values.emplace_back(sign * place);
        values.emplace_back(sign * (place - 1));
        const auto real = static_cast<double>(sign * place);
        values.emplace_back(real);
        values.emplace_back(std::nextafter(real, 0.0));
        values.emplace_back(std::nextafter(real, 1e300));
    }
    for (const auto& a : values)
        for (const auto& b : values) ASSERT_EQ(queryLess(a, b), byLongDouble(a, b) < 0) << queryText(a) << " " << queryText(b);
    std::ranges::sort(values, queryLess);
    for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LE(byLongDouble(values[i - 1], values[i]), 0) << queryText(values[i]);
}

TEST(QueryText, RealsHaveTheFewestDigitsThatGiveThemAgain) {
    EXPECT_EQ(queryText(QueryValue(0.1)), "0.1");
    EXPECT_EQ(queryText(QueryValue(1e300)), "1e+300");
    EXPECT_EQ(queryText(QueryValue(kLeastWhole)), "-9223372036854775808");
    EXPECT_EQ(queryText(QueryValue()), "");
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> exponent(-300, 300);
    for (int i = 0; i < 1000; ++i) {
        const double value = std::pow(10.0, exponent(random)) * (i % 2 == 0 ? 1 : -1);
        EXPECT_EQ(std::stod(queryText(QueryValue(value))), value);
    }
}

TEST(QueryText, AColumnOfNothingButNullHoldsNoNumbersAndOneTextSpoilsIt) {
    QueryResult result;
    result.columns = {"null", "numbers", "text"};
    const QueryValue null;
    result.rows = {
        {null, null, QueryValue(std::int64_t{1})}, {null, QueryValue(2.5), QueryValue(std::string("2"))}, {null, QueryValue(std::int64_t{3}), null}};
    EXPECT_FALSE(holdsNumbers(result, 0));
    EXPECT_TRUE(holdsNumbers(result, 1));
    EXPECT_FALSE(holdsNumbers(result, 2)) << "a text of digits is a text";
    result.rows.clear();
    EXPECT_FALSE(holdsNumbers(result, 1));
}

// RFC 4180, read again by its rules.
std::vector<std::string> csvFields(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
            fields.back() += line[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return fields;
}

TEST(QueryText, EveryTextComesBackFromCsv) {
    std::mt19937 random(4);
    const std::string letters = "a,\"\r\n ;é";
    for (int round = 0; round < 500; ++round) {
        QueryResult result;
        result.columns = {"a", "b", "c"};
        auto& row = result.rows.emplace_back();
        std::vector<std::string> texts;
        for (int i = 0; i < 3; ++i) {
            std::string text;
            for (auto left = random() % 6; left > 0; --left) text += letters[random() % letters.size()];
            texts.push_back(text);
            row.emplace_back(text);
        }
        std::string written;
        ASSERT_TRUE(writeQueryCsv(result, [&](std::string_view piece) {
            written += piece;
            return true;
        }));
        ASSERT_TRUE(written.starts_with("a,b,c\r\n"));
        ASSERT_TRUE(written.ends_with("\r\n"));
        EXPECT_EQ(csvFields(written.substr(7, written.size() - 9)), texts) << written;
    }
}

TEST(QueryText, EndsWhereNothingCanBeWrittenAnyMore) {
    QueryResult result;
    result.columns = {"a"};
    result.rows.assign(5000, {QueryValue(std::string(1000, 'x'))});
    int asked = 0;
    EXPECT_FALSE(writeQueryCsv(result, [&](std::string_view) { return ++asked < 2; }));
    EXPECT_EQ(asked, 2) << "a full disk is not asked again";
}

}  // namespace
}  // namespace stepscope
