#include "core/train/SlowSteps.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::int64_t kRenewed = 20;  // steps between two looks at a thousand durations

template <class All>
std::int64_t quantileOf(const All& all, std::size_t percent) {
    std::vector<std::int64_t> sorted(all.begin(), all.end());
    const auto place = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) * percent / 100);
    std::ranges::nth_element(sorted, place);
    return *place;
}

}  // namespace

void SlowSteps::renew() {
    *this = {};
}

bool SlowSteps::add(TimeNs took) {
    const bool observed = observes();
    m_made += 1;
    if (m_made <= kSettling) return false;
    if (!observed) {
        m_before.push_back(took.ns);
        return false;
    }
    const bool out = m_threshold.ns > 0 && took > m_threshold;
    m_observed.push_back(took.ns);
    if (m_observed.size() > kKnown) m_observed.pop_front();
    if (m_observed.size() >= kLeast && (m_threshold.ns == 0 || ++m_since >= kRenewed)) {
        m_since = 0;
        m_threshold.ns = quantileOf(m_observed, 99);
    }
    return out;
}

double SlowSteps::cost() const {
    if (m_before.empty() || m_observed.size() < m_before.size()) return kUnknown;
    return static_cast<double>(quantileOf(m_observed, 50)) / static_cast<double>(std::max<std::int64_t>(1, quantileOf(m_before, 50))) - 1;
}

}  // namespace stepscope
