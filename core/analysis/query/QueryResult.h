// What a query of a session asks, may take and gives, as plain values: sessions/query answers it, the command line prints it, the page Query shows
// it.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace stepscope {

// As SQLite gives it: NULL, INTEGER, REAL, TEXT. A blob comes as the text of its hexadecimal digits.
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryLimits {
    double seconds = 30;
    std::int64_t rows = 1'000'000;
    std::int64_t resultBytes = std::int64_t{256} << 20;  // of the rows that are handed out
    std::int64_t memory = std::int64_t{512} << 20;       // that SQLite works with
};

struct QueryResult {
    std::vector<std::string> columns;
    std::vector<std::vector<QueryValue>> rows;
    bool more = false;  // there were more rows than QueryLimits::rows
    double seconds = 0;
};

// Where in the text something is wrong, both from 1; the column in characters.
struct QueryPlace {
    std::int64_t line = 1, column = 1;
};

struct QueryColumn {
    std::string name, type, about;  // type: integer, real, text, or any
};
struct QueryView {
    std::string name, about;
    std::vector<QueryColumn> columns;
};

struct SavedQuery {
    std::string id;     // "top-operations", never renamed
    std::string title;  // for a list
    std::string sql;
};

}  // namespace stepscope
