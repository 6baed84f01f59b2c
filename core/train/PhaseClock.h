// PhaseClock: splits the time of a step into its phases. Made by a Program for each step; trainer thread. A GPU works on after it was asked
// to, so there the ends of phases are events on its stream, and their times are known once it has come to the end.
#pragma once
#include <c10/core/Event.h>

#include <array>
#include <chrono>
#include <vector>

#include "core/events/Event.h"

namespace stepscope {

class PhaseClock {
public:
    PhaseClock(std::array<std::int64_t, kPhases>& into, c10::Device device);
    // Adds the time since the last lap to one phase.
    void lap(Phase phase);
    // The same for a call that ran two phases on a CPU and says itself how long the first one was.
    void lap(Phase first, std::int64_t firstNs, Phase second);
    // Waits for the device and adds what its events measured; does nothing on a CPU, nor a second time. Ends every step, so that its
    // duration is the device's too.
    void settle();

private:
    struct Mark {
        Phase phase;
        c10::Event at;
    };
    void mark(Phase phase);

    std::array<std::int64_t, kPhases>& m_into;
    c10::Device m_device;
    std::chrono::steady_clock::time_point m_last;
    std::vector<Mark> m_marks;  // on a GPU; the first is the beginning
};

}  // namespace stepscope
