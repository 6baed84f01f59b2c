// PhaseClock: splits the time of a step into its phases. Made by a Program for each step; trainer thread.
#pragma once
#include "core/events/Event.h"

#include <array>
#include <chrono>

namespace stepscope {

class PhaseClock {
public:
    explicit PhaseClock(std::array<std::int64_t, kPhases>& into) : m_into(into), m_last(std::chrono::steady_clock::now()) {}
    // Adds the time since the last lap to one phase.
    void lap(Phase phase) {
        const auto now = std::chrono::steady_clock::now();
        m_into[static_cast<std::size_t>(phase)] += std::chrono::duration_cast<std::chrono::nanoseconds>(now - m_last).count();
        m_last = now;
    }

private:
    std::array<std::int64_t, kPhases>& m_into;
    std::chrono::steady_clock::time_point m_last;
};

}  // namespace stepscope
