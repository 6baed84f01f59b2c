// OperationSpan: an operation of our own kernels while it runs, by name and place; StepRange: a step, a phase of one, or an evaluation while it
// lasts. LibTorch's observers see its operations and not ours; whoever asks what a step runs (core/profile) listens here too. Several may listen, and
// begin or stop while steps run. Where nobody does, both cost the load of a number: tests/bench/bench_spans prints it.
#pragma once
#include <concepts>
#include <cstdint>

#include "core/base/ObserverList.h"
#include "core/base/StepPlace.h"

namespace stepscope {

// Of an operation: floating-point operations of matrix products and attention (AttentionWork.h), a multiplication and an addition each, the numbers
// that MFU counts; bytes of its operands and its result, once.
struct OperationWork {
    std::int64_t flops = 0, bytes = 0;  // 0: unknown
    const char* type = nullptr;         // of the factors of its products, a literal, as LibTorch names it: "Float", "BFloat16"
    bool operator==(const OperationWork&) const = default;
};

struct SpanFacts {
    const char* name = nullptr;  // a literal
    int worker = 0;              // of the threads that share the operation, each of which has a span; 0 also where one thread speaks for all
    StepPlace place;
    OperationWork work;  // of this worker's part
};

struct RangeFacts {
    enum class Kind { Step, Phase, Evaluation };
    Kind kind = Kind::Step;
    Activity activity = Activity::None;  // of a phase or an evaluation
    std::int64_t step = 0;               // the number of the update; 0: unknown
};

// Called on the thread that does the work. Each begin that an observer hears is followed by its end, on the same thread; they nest.
class StepObserver {
public:
    virtual ~StepObserver() = default;
    virtual void spanBegins(const SpanFacts&) noexcept {}
    virtual void spanEnds(const SpanFacts&) noexcept {}
    virtual void rangeBegins(const RangeFacts&) noexcept {}
    virtual void rangeEnds(const RangeFacts&) noexcept {}
};

using StepObservers = ObserverList<StepObserver>;
inline constinit StepObservers stepObservers;

class OperationSpan {
public:
    explicit OperationSpan(const char* name, int worker = 0, OperationWork work = {}) {
        if (!stepObservers.empty()) begin(name, worker, placeHere(), work);
    }
    OperationSpan(const char* name, Role role, int worker = 0) : OperationSpan(name, role, worker, [] { return OperationWork(); }) {}
    // work(): asked only where somebody listens.
    template <std::invocable Work>
    OperationSpan(const char* name, Role role, int worker, const Work& work) {
        if (stepObservers.empty()) return;
        StepPlace place = placeHere();
        place.role = role;
        begin(name, worker, place, work());
    }
    ~OperationSpan() {
        if (m_heard) end();
    }
    OperationSpan(const OperationSpan&) = delete;
    OperationSpan& operator=(const OperationSpan&) = delete;

private:
    void begin(const char* name, int worker, const StepPlace& place, OperationWork work) noexcept;
    void end() noexcept;

    StepObservers::Snapshot m_heard;
    SpanFacts m_facts;
};

class StepRange {
public:
    StepRange() = default;
    explicit StepRange(const RangeFacts& facts) { begin(facts); }
    ~StepRange() { end(); }
    StepRange(const StepRange&) = delete;
    StepRange& operator=(const StepRange&) = delete;

    // One at a time.
    void begin(const RangeFacts& facts) {
        if (!stepObservers.empty()) tellBegin(facts);
    }
    void end() {
        if (m_heard) tellEnd();
    }

private:
    void tellBegin(const RangeFacts& facts) noexcept;
    void tellEnd() noexcept;

    StepObservers::Snapshot m_heard;
    RangeFacts m_facts;
};

}  // namespace stepscope
