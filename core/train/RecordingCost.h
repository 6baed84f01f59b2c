// RecordingCost: what the two levels of observing that are always on take the trainer. L0, the record of a step: by the clock around making it and
// handing it on. L1, the times of its phases: by entering as many as a step does, over and over, when somebody asks. Trainer thread, between steps.
#pragma once
#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/events/CaptureDone.h"

namespace stepscope {

class RecordingCost {
public:
    static constexpr std::size_t kKept = 64;   // records, the newest
    static constexpr std::size_t kFewest = 2;  // as many as a capture of the usual schedule has before it: one to wait, one to warm up

    // Of a step that was not captured: what its record took, and how many phases it entered.
    void add(TimeNs took, std::int64_t phases);
    // Takes some hundredths of a millisecond. Nobody may listen to phases meanwhile (core/base/OperationSpan.h): what they would hear is no step's.
    RecordingCosts measure(c10::Device device) const;

private:
    std::deque<double> m_took;  // ns
    std::int64_t m_phases = 0;
};

}  // namespace stepscope
