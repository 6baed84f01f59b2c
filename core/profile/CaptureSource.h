// CaptureSource: something that observes the steps of a Capture and tells of them at its end. core/train/CaptureWindow makes all of them before the
// first step, lets them listen on the trainer thread, and finishes them after the last. To add a source, write the class and name it in
// captureSources().
#pragma once
#include <memory>
#include <vector>

#include "core/events/Command.h"
#include "core/events/Event.h"

namespace stepscope {

// Listens from when it is made until it is destroyed; beside it others may (OperationStream.h, core/base/OperationSpan.h).
class CaptureSource {
public:
    virtual ~CaptureSource() = default;
    // Once, after the last step: adds what it saw. into.steps is there already.
    virtual void finish(CaptureDone& into) = 0;
};

std::vector<std::unique_ptr<CaptureSource>> captureSources(const Capture& asked);

}  // namespace stepscope
