// CaptureSource: something that observes the steps of a Capture and tells of them: what is small at its end, what is much as it comes. core/train/
// CaptureWindow makes all of them before the first step, lets them listen on the trainer thread, and finishes them after the last. To add a source,
// write the class and name it in captureSources().
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/MemoryKind.h"
#include "core/events/CaptureDone.h"
#include "core/events/Command.h"
#include "core/events/EventSink.h"

namespace stepscope {

// Memory that is there before a capture begins and stays: of weights, moments.
struct LastingMemory {
    MemoryKind kind{};
    const void* address = nullptr;
    std::int64_t bytes = 0;
    std::int64_t device = -1;  // ordinal of the GPU whose it is; -1: the host's
};

// Where the bulk of a capture goes, and by which clock it is told. Without a sink a capture is the rows of CaptureDone and nothing more.
struct CaptureOutlet {
    EventSink* sink = nullptr;
    const SessionClock* clock = nullptr;
    // Told apart from other captures of the session by this (SliceThread::rank, processName): of an experiment which arm it is of, of several workers
    // which one.
    std::int64_t rank = 0;
    std::string process;
    bool gpu = false;                                       // the steps put work onto a GPU
    bool rows = true;                                       // the rows of CaptureDone are wanted: nobody reads those of workers beside the first
    std::function<std::vector<LastingMemory>()> lasting{};  // asked when a capture begins
    // What captures of the session take on the disk by now, and at most; 0: as much as there is.
    std::function<std::int64_t()> stored{};
    std::int64_t cap = 0;
    std::function<RecordingCosts()> recording{};  // what records of steps cost; asked when a capture ends and nobody listens any more
    // Where every step is observed and few are kept: to `sink` goes behind each step what is that step's alone, and here, at any time and from any
    // thread, what is of several or comes later: kernels, samples, notes. Null: a capture of steps that were asked for.
    EventSink* late = nullptr;
};

// Listens from when it is made until it is destroyed; beside it others may (OperationStream.h, core/base/OperationSpan.h).
class CaptureSource {
public:
    virtual ~CaptureSource() = default;
    // Behind each step, outside of its time: hands on what is complete.
    virtual void stepDone() {}
    // Around each step where every step is observed (CaptureOutlet::late), in place of stepDone(). end: when the step ended; outside of its time,
    // too.
    virtual void stepBegins() {}
    virtual void stepEnds(TimeNs /*end*/) { stepDone(); }
    // Once, after the last step: adds what it saw. into.steps is there already. Returns a sentence where not all of it could be kept.
    virtual std::string finish(CaptureDone& into) = 0;
};

std::vector<std::unique_ptr<CaptureSource>> captureSources(const Capture& asked, const CaptureOutlet& outlet = {});

}  // namespace stepscope
