// MemorySource: who takes memory in the steps of a capture, and when it is given back, as chunks of allocations: each with the operation that asked
// for it and what it is for, by the kinds of the prediction of memory. What lasts (weights, moments) is told as taken when the capture begins, what
// nobody can name any more as one piece beside it. The host's memory is heard from HostAllocator, a GPU's from LibTorch's caching allocator. Made and
// finished on the thread that runs the steps.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/OperationSpan.h"
#include "core/memory/MemoryObserver.h"
#include "core/profile/CaptureSource.h"
#include "core/profile/OperationStream.h"

namespace c10 {
class DebugInfoGuard;
}

namespace stepscope {

// Of a worker's allocations, or of an experiment's arm.
constexpr std::int64_t memoryLane(std::int64_t rank) {
    return (std::int64_t{1} << 52) + rank;
}
constexpr const char* kTakenBefore = "taken before the capture";  // kind of what nobody can name any more

class MemorySource final : public CaptureSource {
public:
    explicit MemorySource(const CaptureOutlet& outlet);
    ~MemorySource() override;
    void stepDone() override;
    // Each such step stands for itself: what lasts is told where it begins, and all that is still held is given back where it ends. What was taken
    // between steps, and in those before, is part of the one piece that nobody can name.
    void stepBegins() override;
    void stepEnds(TimeNs end) override;
    std::string finish(CaptureDone& into) override;

private:
    class Recording;
    class DeviceReports;
    std::function<std::vector<LastingMemory>()> m_lasting;
    std::shared_ptr<Recording> m_recording;
    OperationListening m_operations;
    Listening<StepObserver> m_phases;
    Listening<MemoryObserver> m_host;
    std::unique_ptr<c10::DebugInfoGuard> m_device;  // null: no GPU
};

}  // namespace stepscope
