// HardwareSource: what the processor counts while a capture's steps run (counters/ThreadCounters.h), as samples: by phase, of each thread of the team
// and of all of them, instructions a cycle, bytes a second that the last cache had to fetch, and the share of cycles that were stalled; and by
// operation the sums of the capture, on the threads that ran it; by phase alone where every step is observed (CaptureOutlet::late). Where the system
// lets nobody count, it costs nothing and a note says why. Made and finished on the thread that runs the steps.
#pragma once
#include <memory>
#include <string>

#include "core/profile/CaptureSource.h"
#include "core/profile/OperationStream.h"

namespace stepscope {

class PerfCalls;

class HardwareSource final : public CaptureSource {
public:
    // calls: the system's, or a test's; outlives it.
    HardwareSource(const CaptureOutlet& outlet, PerfCalls& calls);
    explicit HardwareSource(const CaptureOutlet& outlet);
    ~HardwareSource() override;
    void stepDone() override;
    std::string finish(CaptureDone& into) override;

private:
    class Recording;
    std::shared_ptr<Recording> m_recording;  // null: nothing is counted here
    std::unique_ptr<OperationListening> m_listening;
    std::unique_ptr<Listening<StepObserver>> m_phases;
};

}  // namespace stepscope
