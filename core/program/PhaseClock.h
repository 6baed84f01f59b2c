// PhaseClock: splits the time of a step into its phases and tells observers (core/base/OperationSpan.h) where each begins and ends. Made by a Program
// for each step; trainer thread. A GPU works on after it was asked to, so there the ends of phases are events on its stream, and their times are
// known once it has come to the end; what observers hear is when the host came by.
#pragma once
#include <c10/core/Event.h>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "core/base/OperationSpan.h"
#include "core/events/Phase.h"

namespace stepscope {

class PhaseClock {
public:
    PhaseClock(std::array<std::int64_t, kPhases>& into, c10::Device device);
    ~PhaseClock();  // ends the phase that is open
    PhaseClock(const PhaseClock&) = delete;
    PhaseClock& operator=(const PhaseClock&) = delete;

    // From here on time is of this phase. Entering the one that goes on changes nothing.
    void enter(Phase phase);
    // Ends the last phase. Waits for the device and adds what its events measured; nothing is to wait for on a CPU, nor a second time. Ends every
    // step, so that its duration is the device's too.
    void settle();
    std::int64_t entered() const { return m_entered; }  // phases so far

private:
    struct Mark {
        std::optional<Phase> phase;  // that begins here; none after the last
        c10::Event at;
    };
    void mark(std::optional<Phase> phase);
    void leave();

    std::array<std::int64_t, kPhases>& m_into;
    c10::Device m_device;
    Activity m_before;
    std::optional<Phase> m_phase;
    std::int64_t m_entered = 0;
    std::chrono::steady_clock::time_point m_since;
    std::vector<Mark> m_marks;  // on a GPU
    StepRange m_range;
};

}  // namespace stepscope
