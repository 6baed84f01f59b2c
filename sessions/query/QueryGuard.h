// QueryGuard: what a query may do and for how long: its deadline, its memory, the functions and views it may read. Set on the connection in memory
// that a query runs in; asked from inside SQLite while it prepares and steps, and by the views between blocks. One a run, on its thread.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "sessions/query/QueryMemory.h"
#include "sessions/query/SessionQuery.h"

struct sqlite3;

namespace stepscope::query {

// Bytes of a value: no longer than this, and every single function of SQLite is short, whose inside no limit of time reaches.
inline constexpr int kLongestValue = 128 << 10;
inline constexpr int kLongestSql = 100'000;  // bytes of a query's own text

class QueryGuard {
public:
    QueryGuard(const QueryLimits& limits, const std::atomic<bool>& cancelled);

    // Limits of the connection, its functions, and from here on nothing but reading. Before views are added to it.
    void watch(sqlite3* connection);
    // Whether it has to end; error() says why from then on.
    bool over();
    // The same, for loops within a function of SQLite's: it looks at the clock now and then.
    bool overInside();
    const std::optional<Error>& error() const { return m_error; }
    void fail(Error error) {
        if (!m_error) m_error = std::move(error);
    }
    // What a view keeps beside SQLite until the query's end, or gives back (less than 0): it counts against the same limit of memory.
    void hold(std::int64_t bytes) { m_held += bytes; }
    // While a view says which columns it has, which SQLite takes for making a table.
    void setDeclaring(bool declaring) { m_declaring = declaring; }
    // What the authorizer refused, as a sentence; empty: nothing.
    const std::string& refusal() const { return m_refusal; }

private:
    static int authorize(void* self, int action, const char* first, const char* second, const char* database, const char* trigger);
    int allows(int action, const char* first, const char* second);

    using Clock = std::chrono::steady_clock;
    QueryLimits m_limits;
    const std::atomic<bool>& m_cancelled;
    Clock::time_point m_deadline;
    std::optional<Error> m_error;
    std::string m_refusal;
    bool m_declaring = false;
    std::uint64_t m_compared = 0;
    std::int64_t m_held = 0;
    QueryMemory m_memory;
};

}  // namespace stepscope::query
