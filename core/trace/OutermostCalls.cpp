#include "core/trace/OutermostCalls.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/trace/Lod.h"

namespace stepscope {

// Those that it lies in, and those that lie in it, are found by their begins, in whichever order they come.
std::int64_t OutermostCalls::countedTwice(std::int64_t begin, std::int64_t duration, std::size_t& remembered, std::size_t most) {
    std::int64_t end = 0;
    if (__builtin_add_overflow(begin, duration, &end)) end = std::numeric_limits<std::int64_t>::max();
    const auto byBegin = [](std::int64_t at, const auto& call) { return at < call.first; };
    // Mostly they come in order, and the last one tells.
    const auto behind =
        m_calls.empty() || m_calls.back().first <= begin ? m_calls.end() : std::upper_bound(m_calls.begin(), m_calls.end(), begin, byBegin);
    if (behind != m_calls.begin() && std::prev(behind)->second >= end) return duration;
    auto first = behind;
    if (first != m_calls.begin() && std::prev(first)->first == begin) --first;  // it begins with this one, and ends before
    auto last = first;
    std::int64_t within = 0;
    for (; last != m_calls.end() && last->second <= end; ++last) within = cappedSum(within, last->second - last->first);
    remembered -= static_cast<std::size_t>(last - first);
    first = m_calls.erase(first, last);
    if (remembered < most) {
        m_calls.insert(first, {begin, end});
        ++remembered;
    }
    return within;
}

}  // namespace stepscope
