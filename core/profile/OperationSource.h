// OperationSource: every operation of the captured steps, one by one, with its steps, phases and evaluations: as chunks of slices (core/trace), a
// lane a thread. Each thread writes into a block of its own without a lock; full blocks are made into chunks behind the step, on the trainer thread,
// so that no step pays for it. A step that fills more than a bound of them pays nevertheless, rather than that anything is lost. Made and finished on
// the thread that runs the steps.
#pragma once
#include <memory>

#include "core/profile/CaptureSource.h"
#include "core/profile/OperationStream.h"

namespace stepscope {

class OperationSource final : public CaptureSource {
public:
    explicit OperationSource(const CaptureOutlet& outlet);
    ~OperationSource() override;
    void stepDone() override;
    // All of it, so that each step has chunks of its own. What operations that have not ended yet will say is not in it.
    void stepEnds(TimeNs end) override;
    std::string finish(CaptureDone& into) override;

private:
    class Recording;
    std::shared_ptr<Recording> m_recording;
    OperationListening m_listening;
};

}  // namespace stepscope
