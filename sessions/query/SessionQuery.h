// SessionQuery: SQL over one stored session, for reading only: `stepscope-cli query` and the page Query. What is asked runs in a database of its own
// in memory that holds nothing but the views below; they are fed from the file by fixed statements (SessionReader), so that neither what a person
// types nor what a stranger's file holds reaches the other. A query is made and run on one thread; cancel() may come from any.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/query/QueryResult.h"
#include "core/base/Result.h"

namespace stepscope {

// All that a query can read, the views of captures first.
const std::vector<QueryView>& queryViews();

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
