// RowSource: what a view of a query is fed by, seen from SQLite: columns, a range of time or a number that rows are looked up by, and the rows one
// after the other. Cells are worked out when they are asked for. QueryModule.cpp makes a virtual table of each; all on the query's thread.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/Result.h"
#include "sessions/query/QueryGuard.h"
#include "sessions/query/SessionQuery.h"

struct sqlite3;

namespace stepscope::query {

// A text lives until the next row.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

struct Asked {
    // Rows whose time is outside of it need not come.
    std::int64_t from = std::numeric_limits<std::int64_t>::min(), to = std::numeric_limits<std::int64_t>::max();  // both included
    // Nor those whose column (one of RowSource::keys()) holds another number.
    std::optional<std::pair<int, std::int64_t>> key;
};

class Rows {
public:
    virtual ~Rows() = default;
    virtual Result<bool> next() = 0;  // to the first row, or the one behind; false: there is none
    virtual Cell cell(int column) = 0;
};

class RowSource {
public:
    explicit RowSource(const QueryView& view) : m_view(view) {}
    virtual ~RowSource() = default;
    const QueryView& view() const { return m_view; }
    // The column that Asked::from and to are about; -1: none.
    virtual int timeColumn() const { return 0; }
    virtual std::vector<int> keys() const { return {}; }
    virtual double expectedRows() = 0;
    virtual std::unique_ptr<Rows> rows(const Asked& asked) = 0;

private:
    const QueryView& m_view;
};

using RowSources = std::vector<std::unique_ptr<RowSource>>;

// As tables of a connection that is closed before `sources` and `guard` go. What goes wrong while rows are read is the guard's error.
Status addViews(sqlite3* connection, RowSources& sources, QueryGuard& guard);

}  // namespace stepscope::query
