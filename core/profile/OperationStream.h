// OperationStream: every operation of a run as it ends, LibTorch's and our own (core/base/OperationSpan.h) in one stream, with its time, its place in
// the step and whether it was a launch of work of its own. Observers are a list; nobody pays where it is empty, and what it costs where it is not,
// tests/bench/bench_spans prints. Observers hear the threads that listen and those that LibTorch's backward pass runs for them, and our own
// operations on every thread but those that write text.
#pragma once
#include <cstdint>
#include <memory>

#include "core/base/ObserverList.h"
#include "core/base/OperationSpan.h"
#include "core/base/StepPlace.h"

namespace stepscope {

struct OperationName;
struct OperationArguments;

// An operation as it begins.
struct OperationBegun {
    std::int64_t id = 0;                   // of this one call: no other of the process has it; > 0
    const OperationName* known = nullptr;  // as OperationDone's, as is what follows
    bool ours = false;
    int worker = 0;
    StepPlace place;
    std::int64_t step = 0;
};

struct OperationDone {
    std::int64_t id = 0;                   // OperationBegun's
    const char* name = nullptr;            // valid during the call
    const OperationName* known = nullptr;  // OperationNames.h: the same for the same kind of operation, valid for ever
    bool ours = false;
    bool backward = false;  // LibTorch's function for a node of autograd
    int worker = 0;         // of ours: see SpanFacts
    // Where a thread of LibTorch's does not know its phase, that of the step in progress. A backward function has layer and role of its forward
    // operation, and so has what it calls.
    StepPlace place;
    std::int64_t step = 0;  // the number of the update in progress when it began; 0: none
    // Work is counted once: not what only calls others, makes a view, makes room or answers a question; and what LibTorch is asked for inside an
    // operation of our own is part of that one, however many threads share it.
    bool launch = false;
    bool works = false;     // whether it would be one if nothing that it called were
    bool inItself = false;  // an operation of its name is around it: the time of that one has this one's in it
    std::int64_t totalNs = 0;
    std::int64_t selfNs = 0;                        // without what it called
    std::int64_t beginNs = 0;                       // of the steady clock
    int depth = 0;                                  // operations and ranges of its thread around it
    const OperationArguments* arguments = nullptr;  // where an observer of this thread asked for them
    std::int64_t sequence = -1;                     // of autograd; a backward function has that of its forward operation; -1: none
    std::uint64_t forwardThread = 0;                // of a backward function: where that ran, as autograd numbers threads
    std::int64_t forwardBeginNs = 0;                //   and when it began; 0: not known
};

// A step, a phase or an evaluation.
struct RangeDone {
    RangeFacts facts;
    std::int64_t step = 0;  // that it belongs to; 0: unknown
    std::int64_t beginNs = 0, totalNs = 0;
    std::int64_t selfNs = 0;  // without the operations and ranges in it
    int depth = 0;
};

class OperationObserver {
public:
    virtual ~OperationObserver() = default;
    // Each begin that an observer hears is followed by its end, or by lost().
    virtual void operationBegins(const OperationBegun&) noexcept {}
    virtual void operationEnds(const OperationDone& operation) noexcept = 0;  // on the thread that did the work
    virtual void rangeDone(const RangeDone&) noexcept {}
    // Something began and its end cannot be told: operations of a thread that do not nest.
    virtual void lost(std::int64_t /*operations*/) noexcept {}
};

// Where a process goes on with the session of one that died, the ids of its operations and of its kernels' launches would be those of that one once
// more, and what one had launched would be told of the other. From here on ids of operations are above `first`, and it is added to the driver's
// correlation ids. Called before anything listens; never goes back.
void numberOperationsFrom(std::int64_t first);
std::int64_t operationsNumberedFrom();

// An observer hears what this thread runs as long as this lives. Made and destroyed on the same thread, outside of any operation.
class OperationListening {
public:
    enum class Arguments { No, Yes };  // asking for them costs what operations are called with
    explicit OperationListening(std::shared_ptr<OperationObserver> observer, Arguments arguments = Arguments::No);
    ~OperationListening();
    OperationListening(const OperationListening&) = delete;
    OperationListening& operator=(const OperationListening&) = delete;

private:
    const OperationObserver* m_observer;
    Arguments m_arguments;
};

}  // namespace stepscope
