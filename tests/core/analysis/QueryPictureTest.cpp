// What of a query's result can be drawn and what is said of the rest; values as text, in order and as CSV.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/analysis/query/QueryPicture.h"
#include "core/analysis/query/QueryText.h"

namespace stepscope {
namespace {

using testing::HasSubstr;
using Drawn = QueryPicture::Kind;

const QueryValue kNoValue;

QueryValue wholeValue(std::int64_t value) {
    return value;
}
QueryValue wordsValue(const char* value) {
    return std::string(value);
}

QueryResult resultOf(std::vector<std::string> columns, std::vector<std::vector<QueryValue>> rows) {
    return {.columns = std::move(columns), .rows = std::move(rows)};
}

TEST(QueryPicture, IsALineWhereTheFirstColumnNeverGoesBack) {
    const auto picture = pictureOf(resultOf({"step", "loss", "name", "ms"}, {{wholeValue(1), 3.5, wordsValue("a"), wholeValue(7)},
                                                                             {wholeValue(2), kNoValue, wordsValue("b"), wholeValue(9)},
                                                                             {wholeValue(2), 2.5, kNoValue, wholeValue(8)}}));
    EXPECT_EQ(picture.kind, Drawn::Line);
    EXPECT_EQ(picture.xName, "step");
    EXPECT_EQ(picture.x, (std::vector<double>{1, 2, 2}));
    ASSERT_EQ(picture.lines.size(), 2u) << "a column with words is none";
    EXPECT_EQ(picture.lines[0].name, "loss");
    EXPECT_TRUE(std::isnan(picture.lines[0].values[1]));
    EXPECT_EQ(picture.lines[1].values, (std::vector<double>{7, 9, 8}));
    EXPECT_EQ(picture.low, 2.5);
    EXPECT_EQ(picture.high, 9);
    EXPECT_THAT(picture.note, HasSubstr("1 value is left out"));
}

TEST(QueryPicture, IsDotsWhereItGoesBackAndSaysSo) {
    const auto picture = pictureOf(resultOf({"x", "y"}, {{wholeValue(3), wholeValue(1)}, {wholeValue(1), wholeValue(2)}, {kNoValue, wholeValue(3)}}));
    EXPECT_EQ(picture.kind, Drawn::Dots);
    EXPECT_THAT(picture.note, HasSubstr("ORDER BY"));
    EXPECT_THAT(picture.note, HasSubstr("1 row is without x"));
}

TEST(QueryPicture, IsABarARowWhereTheFirstColumnIsWords) {
    std::vector<std::vector<QueryValue>> rows;
    for (std::int64_t i = 0; i < 500; ++i) rows.push_back({wordsValue("operation"), wholeValue(i)});
    rows[1][0] = kNoValue;
    const auto picture = pictureOf(resultOf({"name", "calls"}, rows));
    EXPECT_EQ(picture.kind, Drawn::Bars);
    EXPECT_EQ(picture.names.size(), kMostQueryBars);
    EXPECT_EQ(picture.names[1], "NULL");
    EXPECT_THAT(picture.note, HasSubstr("first 200 of 500 rows"));
}

TEST(QueryPicture, PassesOverARankThatIsTheSameInEveryRowAndDrawsNoMomentBesideAmounts) {
    const auto result = resultOf({"rank", "place", "start_ns", "gap_us"}, {{wholeValue(0), wordsValue("thread 1"), wholeValue(9'000'000'000), 2.5},
                                                                           {wholeValue(0), wordsValue("thread 2"), wholeValue(8'000'000'000), 1.5}});
    EXPECT_EQ(placeColumn(result), 1u);
    const auto picture = pictureOf(result);
    EXPECT_EQ(picture.kind, Drawn::Bars);
    EXPECT_EQ(picture.xName, "place");
    EXPECT_EQ(picture.names[1], "thread 2");
    ASSERT_EQ(picture.lines.size(), 1u);
    EXPECT_EQ(picture.lines[0].name, "gap_us");
    EXPECT_THAT(picture.note, HasSubstr("rank, start_ns"));
    EXPECT_EQ(pictureOf(result, 2).lines.at(0).name, "start_ns") << "alone it is drawn";
    // A rank that tells the rows apart is what they are about; so is a column that nothing is drawn beside.
    EXPECT_EQ(placeColumn(resultOf({"rank", "calls", "ms"}, {{wholeValue(0), wholeValue(3), 1.5}, {wholeValue(1), wholeValue(4), 2.5}})), 0u);
    EXPECT_EQ(placeColumn(resultOf({"rank", "step", "ms"}, {{wholeValue(0), wholeValue(3), 1.5}, {wholeValue(0), wholeValue(4), 2.5}})), 1u);
    EXPECT_EQ(placeColumn(resultOf({"rank", "ms"}, {{wholeValue(0), 1.5}, {wholeValue(0), 2.5}})), 0u);
    EXPECT_EQ(placeColumn(resultOf({"rank", "capture", "ms"}, {{wholeValue(0), wholeValue(1), 1.5}, {wholeValue(0), wholeValue(1), 2.5}})), 0u);
}

TEST(QueryPicture, SaysWhyNothingCanBeDrawn) {
    EXPECT_THAT(pictureOf(resultOf({"a", "b"}, {})).why, HasSubstr("no row"));
    EXPECT_THAT(pictureOf(resultOf({"a"}, {{wholeValue(1)}})).why, HasSubstr("two columns"));
    EXPECT_THAT(pictureOf(resultOf({"a", "b"}, {{wholeValue(1), wordsValue("x")}})).why, HasSubstr("holds only numbers"));
    EXPECT_THAT(pictureOf(resultOf({"a", "b"}, {{wholeValue(1), kNoValue}})).why, HasSubstr("holds only numbers"));
    const double infinite = std::numeric_limits<double>::infinity();
    EXPECT_THAT(pictureOf(resultOf({"a", "b"}, {{infinite, wholeValue(1)}})).why, HasSubstr("No value of \"a\""));
    EXPECT_THAT(pictureOf(resultOf({"a", "b"}, {{wholeValue(1), infinite}, {wholeValue(2), -1e308}})).why, HasSubstr("can be drawn"));
    EXPECT_EQ(pictureOf(resultOf({"a", "b"}, {{wholeValue(1), wordsValue("x")}})).kind, Drawn::None);
}

TEST(QueryPicture, DrawsOneColumnAloneOrAsManyAsCanBeToldApart) {
    std::vector<std::string> columns{"x"};
    std::vector<QueryValue> row{wholeValue(1)};
    for (int c = 0; c < 12; ++c) {
        columns.push_back("y" + std::to_string(c));
        row.push_back(wholeValue(c));
    }
    const auto result = resultOf(columns, {row, row});
    EXPECT_EQ(drawableColumns(result).size(), 12u);
    EXPECT_EQ(pictureOf(result).lines.size(), kMostQueryLines);
    EXPECT_THAT(pictureOf(result).note, HasSubstr("first 8 of 12 columns"));
    const auto alone = pictureOf(result, 10);
    ASSERT_EQ(alone.lines.size(), 1u);
    EXPECT_EQ(alone.lines[0].name, "y9");
    EXPECT_EQ(alone.note, "");
}

TEST(QueryText, OrdersAsSqliteDoes) {
    const std::vector<QueryValue> ordered{
        kNoValue,       QueryValue(-1.5), wholeValue(-1), QueryValue(0.5), wholeValue(9'007'199'254'740'992), wholeValue(9'007'199'254'740'993),
        wordsValue(""), wordsValue("Z"),  wordsValue("a")};
    for (std::size_t a = 0; a < ordered.size(); ++a)
        for (std::size_t b = 0; b < ordered.size(); ++b) EXPECT_EQ(queryLess(ordered[a], ordered[b]), a < b) << a << " " << b;
}

TEST(QueryText, WritesCsvThatHasEveryByteAndTellsNullFromAnEmptyText) {
    std::string written;
    const auto all = [&](std::string_view piece) {
        written += piece;
        return true;
    };
    const std::string nul("a\0b", 3);
    EXPECT_TRUE(writeQueryCsv(resultOf({"a", "b,\"c"}, {{wholeValue(-5), 0.1}, {kNoValue, wordsValue("")}, {nul, wordsValue("line\nline")}}), all));
    EXPECT_EQ(written, "a,\"b,\"\"c\"\r\n-5,0.1\r\n,\"\"\r\n" + nul + ",\"line\nline\"\r\n");
    EXPECT_FALSE(writeQueryCsv(resultOf({"a"}, {}), [](std::string_view) { return false; }));
}

TEST(QueryText, WritesALargeResultInPieces) {
    std::vector<std::vector<QueryValue>> rows(3000, {std::string(1000, 'x')});
    std::size_t pieces = 0, bytes = 0;
    EXPECT_TRUE(writeQueryCsv(resultOf({"a"}, std::move(rows)), [&](std::string_view piece) {
        ++pieces;
        bytes += piece.size();
        return true;
    }));
    EXPECT_EQ(pieces, 3u);
    EXPECT_EQ(bytes, 3 + 3000 * 1002u);
}

}  // namespace
}  // namespace stepscope
