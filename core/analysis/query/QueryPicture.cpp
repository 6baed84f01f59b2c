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

// They say which row it is, and are no amounts to be seen beside others.
bool namesAMember(const std::string& column) {
    return column == "rank" || column == "capture";
}
bool namesAMoment(const std::string& column) {
    return column == "start_ns" || column == "end_ns";
}

bool differs(const QueryResult& result, std::size_t column) {
    return std::ranges::any_of(result.rows, [&](const auto& row) { return row[column] != result.rows.front()[column]; });
}

bool comesAgain(const QueryResult& result, std::size_t column) {
    std::vector<double> values;
    values.reserve(result.rows.size());
    for (const auto& row : result.rows) values.push_back(drawableNumber(row[column]));
    std::erase_if(values, [](double value) { return std::isnan(value); });
    std::ranges::sort(values);
    return std::ranges::adjacent_find(values) != values.end();
}

std::vector<std::size_t> numbersBeside(const QueryResult& result, std::size_t place) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < result.columns.size(); ++c)
        if (c != place && holdsNumbers(result, c)) columns.push_back(c);
    return columns;
}

void placeRows(QueryPicture& picture, const QueryResult& result, std::size_t place) {
    picture.x.reserve(result.rows.size());
    std::size_t without = 0;
    double last = -std::numeric_limits<double>::infinity();
    picture.kind = QueryPicture::Kind::Line;
    for (const auto& row : result.rows) {
        const double x = drawableNumber(row[place]);
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

std::size_t placeColumn(const QueryResult& result) {
    if (result.columns.size() < 3 || result.rows.size() < 2 || !holdsNumbers(result, 0)) return 0;
    const bool tells = namesAMember(result.columns[0]) ? !comesAgain(result, 0) : differs(result, 0);
    if (tells) return 0;
    // What is drawn along y has to be more than what was passed over.
    const auto leavesAmounts = [&](std::size_t place) {
        return std::ranges::any_of(numbersBeside(result, place), [&](std::size_t c) { return c != 0 && !namesAMember(result.columns[c]); });
    };
    std::size_t next = 0;
    for (std::size_t c = 1; c < result.columns.size(); ++c) {
        if (namesAMember(result.columns[c]) || !differs(result, c)) continue;
        const bool numbers = holdsNumbers(result, c);
        if (!numbers || namesAMoment(result.columns[c])) return leavesAmounts(c) ? c : 0;
        if (next == 0) next = c;
    }
    return leavesAmounts(next) ? next : 0;
}

std::vector<std::size_t> drawableColumns(const QueryResult& result) {
    return numbersBeside(result, placeColumn(result));
}

QueryPicture pictureOf(const QueryResult& result, std::optional<std::size_t> only) {
    if (result.rows.empty()) return whyNot("There is no row to draw.");
    if (result.columns.size() < 2)
        return whyNot("A chart needs two columns at least: the first is drawn along x, the numbers of the others along y.");
    const std::size_t place = placeColumn(result);
    auto columns = numbersBeside(result, place);
    if (columns.empty())
        return whyNot(fmt::format("No column behind \"{}\" holds only numbers, so nothing can be drawn along y; the table has the rows.",
                                  result.columns[place]));
    QueryPicture picture;
    picture.xName = result.columns[place];
    if (only && std::ranges::find(columns, *only) != columns.end()) {
        columns = {*only};
    } else {
        const auto end = columns.end();
        const auto aside = std::stable_partition(columns.begin(), end,
                                                 [&](std::size_t c) { return !namesAMember(result.columns[c]) && !namesAMoment(result.columns[c]); });
        if (aside != columns.begin() && aside != end) {
            std::string names;
            for (auto c = aside; c != end; ++c) names += (names.empty() ? "" : ", ") + result.columns[*c];
            addNote(picture, fmt::format("Not drawn beside the others: {}. The list above draws one column alone.", names));
            columns.erase(aside, end);
        }
        if (columns.size() > kMostQueryLines) {
            addNote(picture,
                    fmt::format("The first {} of {} columns are drawn; the list beside it draws one alone.", kMostQueryLines, columns.size()));
            columns.resize(kMostQueryLines);
        }
    }
    std::size_t rows = result.rows.size();
    if (holdsNumbers(result, place)) {
        placeRows(picture, result, place);
        if (std::ranges::all_of(picture.x, [](double x) { return std::isnan(x); }))
            return whyNot(fmt::format("No value of \"{}\" is a number that can be drawn.", picture.xName));
    } else {
        picture.kind = QueryPicture::Kind::Bars;
        if (rows > kMostQueryBars) {
            addNote(picture, fmt::format("The first {} of {} rows are drawn.", kMostQueryBars, format::count(static_cast<std::int64_t>(rows))));
            rows = kMostQueryBars;
        }
        for (std::size_t r = 0; r < rows; ++r)
            picture.names.push_back(isNullValue(result.rows[r][place]) ? std::string("NULL") : queryText(result.rows[r][place]));
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
