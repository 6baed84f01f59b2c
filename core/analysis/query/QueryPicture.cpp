#include "core/analysis/query/QueryPicture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/query/QueryText.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr double kFarthest = 1e300;  // beyond it the difference of two values is no number any more

double drawableNumber(const QueryValue& value) {
    const double number = queryNumber(value);
    return std::abs(number) <= kFarthest ? number : std::numeric_limits<double>::quiet_NaN();
}

std::string plural(std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", format::count(static_cast<std::int64_t>(count)), count == 1 ? one : many);
}

QueryPicture whyNot(std::string why) {
    QueryPicture picture;
    picture.why = std::move(why);
    return picture;
}

void addNote(QueryPicture& picture, const std::string& sentence) {
    picture.note += (picture.note.empty() ? "" : " ") + sentence;
}

void placeRows(QueryPicture& picture, const QueryResult& result) {
    picture.x.reserve(result.rows.size());
    std::size_t without = 0;
    double last = -std::numeric_limits<double>::infinity();
    picture.kind = QueryPicture::Kind::Line;
    for (const auto& row : result.rows) {
        const double x = drawableNumber(row[0]);
        picture.x.push_back(x);
        if (std::isnan(x)) {
            ++without;
            continue;
        }
        if (x < last) picture.kind = QueryPicture::Kind::Dots;
        last = x;
    }
    if (picture.kind == QueryPicture::Kind::Dots)
        addNote(picture, fmt::format("{} goes back and forth, so each row is a dot; ORDER BY it for a line.", picture.xName));
    else if (without > 0)
        picture.kind = QueryPicture::Kind::Dots;  // a line has its rows one after the other
    if (without > 0) addNote(picture, fmt::format("{} without {} left out.", plural(without, "row is", "rows are"), picture.xName));
}

}  // namespace

std::vector<std::size_t> drawableColumns(const QueryResult& result) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 1; c < result.columns.size(); ++c)
        if (holdsNumbers(result, c)) columns.push_back(c);
    return columns;
}

QueryPicture pictureOf(const QueryResult& result, std::optional<std::size_t> only) {
    if (result.rows.empty()) return whyNot("There is no row to draw.");
    if (result.columns.size() < 2)
        return whyNot("A chart needs two columns at least: the first is drawn along x, the numbers of the others along y.");
    auto columns = drawableColumns(result);
    if (columns.empty())
        return whyNot(
            fmt::format("No column behind \"{}\" holds only numbers, so nothing can be drawn along y; the table has the rows.", result.columns[0]));
    QueryPicture picture;
    picture.xName = result.columns[0];
    if (only && std::ranges::find(columns, *only) != columns.end()) {
        columns = {*only};
    } else if (columns.size() > kMostQueryLines) {
        addNote(picture, fmt::format("The first {} of {} columns are drawn; the list beside it draws one alone.", kMostQueryLines, columns.size()));
        columns.resize(kMostQueryLines);
    }
    std::size_t rows = result.rows.size();
    if (holdsNumbers(result, 0)) {
        placeRows(picture, result);
        if (std::ranges::all_of(picture.x, [](double x) { return std::isnan(x); }))
            return whyNot(fmt::format("No value of \"{}\" is a number that can be drawn.", picture.xName));
    } else {
        picture.kind = QueryPicture::Kind::Bars;
        if (rows > kMostQueryBars) {
            addNote(picture, fmt::format("The first {} of {} rows are drawn.", kMostQueryBars, format::count(static_cast<std::int64_t>(rows))));
            rows = kMostQueryBars;
        }
        for (std::size_t r = 0; r < rows; ++r)
            picture.names.push_back(isNullValue(result.rows[r][0]) ? std::string("NULL") : queryText(result.rows[r][0]));
    }
    std::size_t without = 0, with = 0;
    picture.low = std::numeric_limits<double>::infinity();
    picture.high = -picture.low;
    for (const std::size_t column : columns) {
        QueryPicture::Series line{.name = result.columns[column], .values = {}};
        line.values.reserve(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            const double value = drawableNumber(result.rows[r][column]);
            line.values.push_back(value);
            if (std::isnan(value)) {
                ++without;
                continue;
            }
            ++with;
            picture.low = std::min(picture.low, value);
            picture.high = std::max(picture.high, value);
        }
        picture.lines.push_back(std::move(line));
    }
    if (with == 0) return whyNot("No value of these columns is a number that can be drawn.");
    if (without > 0) addNote(picture, fmt::format("{} left out: NULL, or beyond what can be drawn.", plural(without, "value is", "values are")));
    return picture;
}

}  // namespace stepscope
