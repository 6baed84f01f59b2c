#include "core/analysis/captures/QueueFold.h"

#include <algorithm>

namespace stepscope {
namespace {

// Of times that a file may have made as far apart as they can be.
double apart(std::int64_t from, std::int64_t to) {
    return to > from ? static_cast<double>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)) : 0;
}

}  // namespace

void NewestLaunches::add(std::int64_t rank, const Slice& call) {
    if ((call.kind != SliceKind::Runtime && call.kind != SliceKind::Driver) || call.correlation == 0) return;
    const Place place{rank, call.correlation};
    const auto [found, added] = m_starts.try_emplace(place, call.start);
    if (!added) {
        found->second = std::min(found->second, call.start);
        return;
    }
    m_order.push_back(place);
    if (m_order.size() <= m_most) return;
    m_starts.erase(m_order.front());
    m_order.pop_front();
}

std::optional<std::int64_t> NewestLaunches::of(std::int64_t rank, const Slice& work) const {
    const auto found = work.correlation != 0 ? m_starts.find({rank, work.correlation}) : m_starts.end();
    return found != m_starts.end() ? std::optional(found->second) : std::nullopt;
}

QueueFold::QueueFold(std::int64_t works, std::size_t stretches)
    : m_worksEach(std::max<std::int64_t>(1, works / static_cast<std::int64_t>(std::max<std::size_t>(1, stretches)))),
      m_most(2 * std::max<std::size_t>(1, stretches)) {}

void QueueFold::open(std::int64_t at) {
    if (m_stretches.size() >= m_most || (!m_stretches.empty() && at <= m_stretches.back().begin)) return;
    m_stretches.push_back({.begin = at});
    m_works = 0;
}

std::size_t QueueFold::stretchOf(std::int64_t at) const {
    const auto behind = std::ranges::upper_bound(m_stretches, at, {}, &Stretch::begin);
    return static_cast<std::size_t>(behind - m_stretches.begin()) - 1;
}

void QueueFold::add(std::int64_t launched, std::int64_t begun) {
    if (launched >= begun) return;
    if (m_stretches.empty()) {
        open(launched);
        m_last = launched;
    } else if (begun > m_last && apart(m_last, begun) > static_cast<double>(kBreak)) {
        // What was captured on either side is not of one stretch.
        open(m_last);
        open(std::max(m_last, launched));
    } else if (begun > m_last && m_works >= m_worksEach) {
        open(m_last);
    }
    m_last = std::max(m_last, begun);
    ++m_works;
    const std::int64_t from = std::max(launched, m_stretches.front().begin);
    if (from >= begun) return;
    const std::size_t first = stretchOf(from), last = stretchOf(begun);
    if (first == last) {
        m_stretches[first].area += apart(from, begun);
        return;
    }
    m_stretches[first].area += apart(from, m_stretches[first + 1].begin);
    m_stretches[first + 1].through += 1;
    m_stretches[last].through -= 1;
    m_stretches[last].area += apart(m_stretches[last].begin, begun);
}

std::vector<QueueMean> QueueFold::means() const {
    std::vector<QueueMean> all;
    std::int64_t through = 0;
    for (std::size_t i = 0; i < m_stretches.size(); ++i) {
        const Stretch& one = m_stretches[i];
        through += one.through;
        const double length = apart(one.begin, i + 1 < m_stretches.size() ? m_stretches[i + 1].begin : m_last);
        if (length > 0) all.push_back({{one.begin}, static_cast<double>(through) + one.area / length});
    }
    if (!all.empty()) all.push_back({{m_last}, 0});
    return all;
}

}  // namespace stepscope
