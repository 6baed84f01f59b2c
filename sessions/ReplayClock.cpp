#include "sessions/ReplayClock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepscope {
namespace {

constexpr double kFarNs = 3e18;  // 95 years: as good as never, and its sums do not overflow

}  // namespace

TimeNs ReplayClock::now() const {
    if (!m_running) return m_anchor;
    if (endless()) return {std::numeric_limits<std::int64_t>::max()};
    const auto real = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - m_since).count();
    return m_anchor + TimeNs{static_cast<std::int64_t>(std::min(real * m_speed, kFarNs))};
}

ReplayClock::Real ReplayClock::realTimeOf(TimeNs at) const {
    const double real = static_cast<double>((at - m_anchor).ns) / m_speed;
    // Rounded up: waking a moment early would only mean to look and wait again.
    return m_since + std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(real, 0.0, kFarNs)) + 1);
}

bool ReplayClock::endless() const {
    return m_running && std::isinf(m_speed);
}

void ReplayClock::set(TimeNs at) {
    m_anchor = at;
    m_since = std::chrono::steady_clock::now();
}

void ReplayClock::setSpeed(double factor) {
    m_speed = factor > 0 ? factor : 1;
}

}  // namespace stepscope
