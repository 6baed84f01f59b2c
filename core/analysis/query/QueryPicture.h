// QueryPicture: what of a query's result can be drawn: one column along x, the numbers of the others along y. A sentence says why nothing can
// be, and what is not in the picture. Pure functions, called by the page Query.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/query/QueryResult.h"

namespace stepscope {

struct QueryPicture {
    enum class Kind {
        None,
        Line,  // x never goes back
        Dots,  // it does
        Bars,  // it is words: one place a row
    };
    struct Series {
        std::string name;
        std::vector<double> values;  // one a row; NaN: none
    };
    Kind kind = Kind::None;
    std::string why;   // of None: what is missing
    std::string note;  // what the picture leaves out; empty: nothing
    std::string xName;
    std::vector<double> x;           // of Line and Dots, one a row; NaN: the row has no place
    std::vector<std::string> names;  // of Bars
    std::vector<Series> lines;
    double low = 0, high = 0;  // of all values
};

constexpr std::size_t kMostQueryLines = 8, kMostQueryBars = 200;

// The column along x: the first, unless it is a number that does not tell the rows apart (one value in all of them, or a rank or capture that comes
// again); then the first of words or of times, else the first that differs from row to row.
std::size_t placeColumn(const QueryResult& result);
// The other columns that hold numbers.
std::vector<std::size_t> drawableColumns(const QueryResult& result);
// only: of one of them; without: of all, as many as can be told apart, but for moments, rank and capture where there is anything else.
QueryPicture pictureOf(const QueryResult& result, std::optional<std::size_t> only = {});

}  // namespace stepscope
