// SessionQuery: SQL over one stored session, for reading only: `stepscope-cli query`. What is asked runs in a database of its own
// in memory that holds nothing but the views below; they are fed from the file by fixed statements (SessionReader), so that neither what a person
// types nor what a stranger's file holds reaches the other. A query is made and run on one thread; cancel() may come from any.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/Result.h"

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
// All that a query can read, the views of captures first.
const std::vector<QueryView>& queryViews();

struct SavedQuery {
    std::string id;     // "top-operations", never renamed
    std::string title;  // for a list
    std::string sql;
};
const std::vector<SavedQuery>& savedQueries();
// NotFound names those that there are.
Result<SavedQuery> savedQuery(const std::string& id);

class SessionQuery {
public:
    // NotFound: no such file or session.
    static Result<std::unique_ptr<SessionQuery>> open(const std::string& path, std::int64_t session);
    virtual ~SessionQuery() = default;

    // One statement that reads. BadInput: what is wrong with it, or that it came to its limits; Cancelled; OutOfMemory; Damaged: the file.
    virtual Result<QueryResult> run(const std::string& sql, const QueryLimits& limits = {}) = 0;
    // Of the last run's error, where that has a place in the text.
    virtual std::optional<QueryPlace> wrongAt() const = 0;
    // Ends what runs, and what would be run after it.
    virtual void cancel() = 0;
};

}  // namespace stepscope
