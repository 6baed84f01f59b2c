#include "core/profile/activity/ClockPairs.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

constexpr std::size_t kMost = 4096;
constexpr double kFastest = 1.01;  // no two clocks of one machine run this far apart: two moments close together may seem to

}  // namespace

void ClockPairs::add(const Moment& moment) {
    if (moment.device == 0) return;
    if (!m_moments.empty() && (moment.device <= m_moments.back().device || moment.session <= m_moments.back().session)) return;
    if (m_moments.size() == kMost) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < m_moments.size(); i += 2) m_moments[kept++] = m_moments[i];
        m_moments.resize(kept);
    }
    m_moments.push_back(moment);
}

std::int64_t ClockPairs::sessionTime(std::uint64_t device) const {
    if (m_moments.empty()) return static_cast<std::int64_t>(device);
    const auto after = std::ranges::upper_bound(m_moments, device, {}, &Moment::device);
    const auto offsetFrom = [&](const Moment& moment) {
        return moment.session + static_cast<std::int64_t>(device - moment.device);  // wraps to what lies before, too
    };
    if (after == m_moments.begin()) return offsetFrom(m_moments.front());
    const Moment& before = *(after - 1);
    if (after == m_moments.end()) return offsetFrom(before);
    const auto theirs = static_cast<double>(after->device - before.device), ours = static_cast<double>(after->session - before.session);
    const double rate = ours / theirs;
    if (rate > kFastest || rate < 1 / kFastest) return offsetFrom(before);
    return before.session + std::llround(static_cast<double>(device - before.device) * rate);
}

}  // namespace stepscope
