#include "sessions/exporters/SpareLanes.h"

#include <algorithm>

namespace stepscope::kineto {

bool SpareLanes::outside(const Span& one, const Span& other) {
    return one.from != other.from ? one.from < other.from : one.to > other.to;
}

void SpareLanes::place(const Span& span) {
    const auto fits = [&](int lane) {
        auto& of = m_ends[static_cast<std::size_t>(lane)];
        while (!of.empty() && of.back() <= span.from) of.pop_back();
        return of.empty() || span.to <= of.back();
    };
    int lane = 0;
    while (lane < kMost && !fits(lane)) ++lane;
    // What fits into none is on the last all the same.
    if (lane < kMost || fits(lane)) m_ends[static_cast<std::size_t>(lane)].push_back(span.to);
    if (lane > 0) m_beside.push_back({span, lane});
}

void SpareLanes::settle(std::int64_t before) {
    std::ranges::sort(m_waiting, outside);
    const auto later = std::ranges::find_if(m_waiting, [&](const Span& one) { return one.from >= before; });
    for (auto one = m_waiting.begin(); one != later; ++one) place(*one);
    m_waiting.erase(m_waiting.begin(), later);
}

void SpareLanes::done() {
    std::ranges::sort(m_waiting, outside);
    for (const Span& one : m_waiting) place(one);
    m_waiting = {};
    for (auto& of : m_ends) of = {};
    // Of a file that does not say when its blocks begin.
    if (!std::ranges::is_sorted(m_beside, outside, &Beside::span)) std::ranges::stable_sort(m_beside, outside, &Beside::span);
}

int SpareLanes::of(std::int64_t from, std::int64_t to) const {
    const auto found = std::ranges::lower_bound(m_beside, Span{from, to}, outside, &Beside::span);
    return found != m_beside.end() && found->span.from == from && found->span.to == to ? found->lane : 0;
}

}  // namespace stepscope::kineto
