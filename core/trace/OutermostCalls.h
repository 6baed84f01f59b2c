// OutermostCalls: the calls of one name on one lane that lie in no other of it, so that a name's time can be told without counting a call within a
// call of the same name twice. Calls are added in any order. OperationSummary has them of all captures, TraceIndex of a range. Any thread, one at a
// time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope {

class OutermostCalls {
public:
    // Of the durations of all calls together, what this one makes count twice: all of it where it lies in one of them, else what lies in it.
    // `remembered`: calls that are kept, by several of these together; beyond `most` no more are, and what lies in those is not told.
    std::int64_t countedTwice(std::int64_t begin, std::int64_t duration, std::size_t& remembered, std::size_t most);

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> m_calls;  // begin and end, by their begin; so their ends are in order, too
};

}  // namespace stepscope
