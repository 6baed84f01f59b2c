// QueryMemory: what SQLite allocates on the thread of a query, counted, and refused once the query is over. A short text can unfold into a query that
// takes for ever to prepare, where SQLite asks nobody but its allocator; its own limits of memory are the whole process's, recorder included.
#pragma once
#include <cstdint>
#include <functional>

namespace stepscope::query {

class QueryMemory {
public:
    // From here on and on this thread. `over` is asked now and then; from when it says so, SQLite gets no more memory here.
    explicit QueryMemory(std::function<bool()> over);
    ~QueryMemory();
    QueryMemory(const QueryMemory&) = delete;
    QueryMemory& operator=(const QueryMemory&) = delete;

    std::int64_t bytes() const { return m_bytes; }  // held now

private:
    friend struct CountedMalloc;
    std::function<bool()> m_over;
    std::int64_t m_bytes = 0, m_asked = 0, m_at = 0;
    bool m_refusing = false;
    QueryMemory* m_outer;
};

}  // namespace stepscope::query
