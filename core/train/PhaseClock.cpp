#include "core/train/PhaseClock.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace stepscope {

PhaseClock::PhaseClock(std::array<std::int64_t, kPhases>& into, c10::Device device)
    : m_into(into), m_device(device), m_last(std::chrono::steady_clock::now()) {
    if (!m_device.is_cpu()) mark(Phase::Batch);
}

void PhaseClock::lap(Phase phase) {
    if (!m_device.is_cpu()) return mark(phase);
    const auto now = std::chrono::steady_clock::now();
    m_into[static_cast<std::size_t>(phase)] += std::chrono::duration_cast<std::chrono::nanoseconds>(now - m_last).count();
    m_last = now;
}

void PhaseClock::lap(Phase first, std::int64_t firstNs, Phase second) {
    m_into[static_cast<std::size_t>(first)] += firstNs;
    m_into[static_cast<std::size_t>(second)] -= firstNs;
    lap(second);
}

void PhaseClock::mark(Phase phase) {
    m_marks.push_back({phase, c10::Event(m_device.type(), c10::EventFlag::BACKEND_DEFAULT)});
    m_marks.back().at.record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
}

void PhaseClock::settle() {
    if (m_marks.empty()) return;
    m_marks.back().at.synchronize();
    for (std::size_t i = 1; i < m_marks.size(); ++i)
        m_into[static_cast<std::size_t>(m_marks[i].phase)] += static_cast<std::int64_t>(m_marks[i - 1].at.elapsedTime(m_marks[i].at) * 1e6);
    m_marks.clear();
}

}  // namespace stepscope
