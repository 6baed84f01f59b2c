// OperationStream: every operation of a run as it ends, LibTorch's and our own (core/base/OperationSpan.h) in one stream, with its time, its place in
// the step and whether it was a launch of work of its own. Observers are a list; nobody pays where it is empty, and what it costs where it is not,
// tests/bench/bench_spans prints. Observers hear the threads that listen and those that LibTorch's backward pass runs for them, and our own
// operations on every thread but those that write text.
#pragma once
#include <cstdint>
#include <memory>

#include "core/base/ObserverList.h"
#include "core/base/StepPlace.h"

namespace stepscope {

struct OperationDone {
    const char* name = nullptr;  // valid during the call
    bool ours = false;
    int worker = 0;         // of ours: see SpanFacts
    StepPlace place;        // where a thread of LibTorch's does not know its phase, that of the step in progress
    std::int64_t step = 0;  // the number of the update in progress when it began; 0: none
    // Work is counted once: not what only calls others, makes a view, makes room or answers a question; and what LibTorch is asked for inside an
    // operation of our own is part of that one, however many threads share it.
    bool launch = false;
    bool works = false;  // whether it would be one if nothing that it called were
    std::int64_t totalNs = 0;
    std::int64_t selfNs = 0;  // without what it called
};

class OperationObserver {
public:
    virtual ~OperationObserver() = default;
    virtual void operationEnds(const OperationDone& operation) noexcept = 0;  // on the thread that did the work
};

// An observer hears what this thread runs as long as this lives. Made and destroyed on the same thread, outside of any operation.
class OperationListening {
public:
    explicit OperationListening(std::shared_ptr<OperationObserver> observer);
    ~OperationListening();
    OperationListening(const OperationListening&) = delete;
    OperationListening& operator=(const OperationListening&) = delete;

private:
    const OperationObserver* m_observer;
};

}  // namespace stepscope
