// StepDivision: what the steps of a range spent their time with, each instant in one class only. Where a GPU took part, TensorBoard's eight: kernels,
// copies, memsets, communication, calls of the runtime, data, operations on the CPU, other; of what goes on at once the first of these counts. Else
// the thread that runs the steps, each instant the innermost operation on it, by kind of work (WorkClass.h). One a rank. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/panes/LaneNest.h"
#include "core/base/Units.h"

namespace stepscope {

struct ClassTime {
    std::string name;
    TimeNs time;
};
struct ThreadBusy {
    std::string name;
    TimeNs busy;  // with operations that compute something
};
struct DividedSteps {
    std::int64_t rank = 0;
    bool device = false;              // by TensorBoard's classes
    std::int64_t steps = 0;           // whole or in part in the range; 0: no steps were recorded, and all of the range is divided
    TimeNs from, to;                  // what is divided reaches from here to here
    TimeNs window;                    //   and is so long: of steps on a CPU without what lies between them
    std::vector<ClassTime> classes;   // in their order, their times add up to the window
    std::string thread;               // whose time the classes are of, and of none of those beside it; empty: of GPUs
    std::vector<ThreadBusy> threads;  // with operations; those that did most first
    // Of GPUs, within what is divided: how long kernels moved data between workers, and how long of that others computed meanwhile.
    TimeNs communication, overlapped;
};

class StepDivision {
public:
    explicit StepDivision(std::int64_t rank) : m_rank(rank) {}
    // A thread of the host, nested. `texts`: of NestedSlice::text.
    void addThread(const std::string& name, const std::vector<NestedSlice>& slices, const std::vector<std::string>& texts);
    // What ran on a GPU, and when, within the range. `communication`: of several workers, whatever its kind.
    void addWork(SliceKind kind, bool communication, std::int64_t start, std::int64_t end);

    DividedSteps result() const;

private:
    static constexpr int kOnDevice = 7;  // classes beside "other"
    using Span = std::pair<std::int64_t, std::int64_t>;
    struct Lane {
        std::string name;
        std::array<std::int64_t, kWorkClasses> ofSteps{}, ofAll{};  // own time, ns
        std::int64_t steps = 0, stepTime = 0, firstStep = 0, lastStep = 0;
        std::int64_t begin = 0, end = 0;
    };
    void addSpan(std::size_t kind, std::int64_t start, std::int64_t end);
    void divideDevice(DividedSteps& into) const;
    void divideThread(DividedSteps& into) const;

    std::int64_t m_rank;
    std::vector<Lane> m_lanes;
    std::array<std::vector<Span>, kOnDevice> m_spans;
    bool m_device = false;
    std::int64_t m_lastWork = 0;
};

// Whether a kernel moves data between workers: NCCL's, RCCL's, Gloo's.
bool isCommunication(const std::string& kernel);

}  // namespace stepscope
