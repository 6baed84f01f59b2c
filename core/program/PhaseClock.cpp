#include "core/program/PhaseClock.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace stepscope {
namespace {

// An Activity for each Phase, in the same order.
constexpr Activity activityOf(Phase phase) {
    return static_cast<Activity>(static_cast<int>(Activity::Batch) + static_cast<int>(phase));
}
static_assert(activityOf(Phase::Batch) == Activity::Batch && activityOf(Phase::Copy) == Activity::Copy &&
              activityOf(Phase::Forward) == Activity::Forward && activityOf(Phase::Backward) == Activity::Backward &&
              activityOf(Phase::Clip) == Activity::Clip && activityOf(Phase::Optimizer) == Activity::Optimizer &&
              activityOf(Phase::Waiting) == Activity::Waiting && kPhases == 7);

}  // namespace

PhaseClock::PhaseClock(std::array<std::int64_t, kPhases>& into, c10::Device device)
    : m_into(into), m_device(device), m_before(placeHere().activity) {}

PhaseClock::~PhaseClock() {
    m_range.end();
    placeHere().activity = m_before;
}

void PhaseClock::enter(Phase phase) {
    if (m_phase == phase) return;
    leave();
    m_phase = phase;
    ++m_entered;
    if (m_device.is_cpu())
        m_since = std::chrono::steady_clock::now();
    else
        mark(phase);
    placeHere().activity = activityOf(phase);
    m_range.begin({.kind = RangeFacts::Kind::Phase, .activity = activityOf(phase)});
}

void PhaseClock::leave() {
    if (!m_phase) return;
    m_range.end();
    if (m_device.is_cpu()) {
        const auto spent = std::chrono::steady_clock::now() - m_since;
        m_into[static_cast<std::size_t>(*m_phase)] += std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
    }
    m_phase.reset();
}

void PhaseClock::mark(std::optional<Phase> phase) {
    m_marks.push_back({phase, c10::Event(m_device.type(), c10::EventFlag::BACKEND_DEFAULT)});
    m_marks.back().at.record(c10::impl::VirtualGuardImpl(m_device.type()).getStream(m_device));
}

void PhaseClock::settle() {
    leave();
    placeHere().activity = m_before;
    if (m_marks.empty()) return;
    mark(std::nullopt);
    m_marks.back().at.synchronize();
    for (std::size_t i = 0; i + 1 < m_marks.size(); ++i)
        m_into[static_cast<std::size_t>(*m_marks[i].phase)] += static_cast<std::int64_t>(m_marks[i].at.elapsedTime(m_marks[i + 1].at) * 1e6);
    m_marks.clear();
}

}  // namespace stepscope
