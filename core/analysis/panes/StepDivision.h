// StepDivision: what the steps of a range spent their time with, each instant in one class only. Where a GPU took part, TensorBoard's eight: kernels,
// copies, memsets, communication, calls of the runtime, data, operations on the CPU, other; of what goes on at once the first of these counts. Else
// the threads that run the steps, each instant of each the innermost operation on it, by kind of work (WorkClass.h); what the others of a team did
// not fill is waiting (TeamTime.h). One a rank. Any thread, one at a time.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/panes/LaneNest.h"
#include "core/analysis/panes/TeamTime.h"
#include "core/base/Units.h"

namespace stepscope {

struct ClassTime {
    std::string name;
    TimeNs time;  // of a CPU: of all threads of the team together
};
struct ThreadBusy {
    std::string name;
    TimeNs busy;  // with operations that compute something
};
struct DividedSteps {
    std::int64_t rank = 0;
    bool device = false;             // by TensorBoard's classes
    std::int64_t steps = 0;          // whole or in part in the range; 0: no steps were recorded, and all of the range is divided
    std::int64_t cut = 0;            //   so many of them in part: then the time of them says nothing of the time of one
    TimeNs from, to;                 // what is divided reaches from here to here
    TimeNs window;                   //   and is so long: of steps on a CPU without what lies between them
    std::vector<ClassTime> classes;  // in their order, their times add up to divided()
    std::string thread;              // which runs the steps; empty: of GPUs
    // On a CPU: threads that were recorded in a step, that one with them, and the time of all others of them in the steps. 1: the classes are of the
    // time of `thread` alone, and those among which LibTorch shares an operation are in none of them, as they record nothing.
    std::int64_t fewestThreads = 1, mostThreads = 1;
    TimeNs shared;
    std::vector<ThreadBusy> threads;  // with operations; those that did most first
    // Within what is divided: how long data was on its way between workers, of GPUs by kernels, else by threads of the host; and how long of that
    // other kernels, or operations of any thread, computed.
    TimeNs communication, overlapped;

    // What the classes are parts of: of a team threads x steps.
    TimeNs divided() const { return window + shared; }
    // Of a class, as the mean of the threads: such times add up to the window, but for rounding.
    TimeNs eachThread(TimeNs time) const;
};

// The class of threads of a team that did nothing in a step of theirs.
constexpr const char* kTeamWaits = "waiting";

// Of a thread's lane what is not in its slices.
struct LaneFacts {
    std::int64_t process = 0;  // threads of a team are of the process that runs the steps
    bool team = false;         // isTeamLane()
    // Uncut. Of a team's thread: operations of our own, around the range too. Else: steps that reach into the range.
    std::vector<NsSpan> whole{};
};

class StepDivision {
public:
    explicit StepDivision(std::int64_t rank) : m_rank(rank) {}
    // A thread of the host, nested. `texts`: of NestedSlice::text.
    void addThread(const std::string& name, std::vector<NestedSlice> slices, const std::vector<std::string>& texts, LaneFacts facts = {});
    // What ran on a GPU, and when, within the range. `communication`: of several workers, whatever its kind.
    void addWork(SliceKind kind, bool communication, std::int64_t start, std::int64_t end);

    DividedSteps result() const;
    // Spans of computing that are held beside what moves on the host: none where nothing moves there, and of GPUs.
    std::size_t computingSpans() const { return m_computing.size(); }

private:
    static constexpr int kOnDevice = 7;  // classes beside "other"
    struct Lane {
        std::string name;
        std::array<std::int64_t, kWorkClasses> ofSteps{}, ofAll{};  // own time, ns
        std::int64_t steps = 0, cut = 0, stepTime = 0, firstStep = 0, lastStep = 0;
        std::int64_t begin = 0, end = 0;
        std::int64_t process = 0;
        bool team = false;
        TeamMember member;                // of a team's thread
        std::vector<TeamStep> ofTeam;     // else: its steps, none of which lies in another
        std::vector<NestedSlice> nested;  // else: until it is known whether anything moves
    };
    void addSpan(std::size_t kind, std::int64_t start, std::int64_t end);
    void findComputing();
    void divideDevice(DividedSteps& into) const;
    void divideThread(DividedSteps& into) const;
    void divideTeam(const Lane& steps, DividedSteps& into) const;
    void overlap(const Lane& steps, DividedSteps& into) const;

    std::int64_t m_rank;
    std::vector<Lane> m_lanes;
    std::array<std::vector<NsSpan>, kOnDevice> m_spans;
    std::vector<NsSpan> m_moving, m_computing;  // of threads of the host
    std::size_t m_found = 0;                    // so many of m_lanes are in m_computing
    bool m_device = false;
    std::int64_t m_lastWork = 0;
};

// Whether a kernel moves data between workers: NCCL's, RCCL's.
bool isCommunication(const std::string& kernel);
// Whether a slice of a host's thread lasts as long as it takes to move data between workers: our own sums and exchanges, and what PyTorch does by
// Gloo. Of what is done by NCCL it is the launch alone (kSumLaunch, "nccl:all_reduce").
bool movesOnHost(SliceKind kind, const std::string& name, const std::string& role);

}  // namespace stepscope
