// WorkerMap: how long each worker of a run took, phase by phase, over all its steps: as a heat map of worker by step in as many columns as can be
// looked at, as means, and as a sentence that names the slow one; and how well their clocks are known. Blocks are added in order of their steps; what
// is held does not grow with the run. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"

namespace stepscope {

struct WorkerGrid {
    struct Column {
        std::int64_t first = 0, last = 0;  // numbers of steps
    };
    std::int64_t workers = 0;
    std::vector<Column> columns;
    std::vector<double> mean, most;  // ns of a step; workers x columns; NaN: this worker made none of these steps
    double at(const std::vector<double>& of, std::int64_t worker, std::size_t column) const {
        return of[static_cast<std::size_t>(worker) * columns.size() + column];
    }
};

// What exchanges found of a worker's clock, beside the first one's.
struct ClockFacts {
    std::int64_t exchanges = 0;
    std::int64_t mostError = 0, lastError = 0;  // ns: what its times may be off by, at the exchanges
    // ns a second that it gains on the first one's, and by how much that may be off; unknown: they were too near to each other to tell.
    double drift = kUnknown, driftError = kUnknown;
};

class WorkerMap {
public:
    static constexpr std::size_t kMostColumns = 1024;

    // mostColumns: at least 2, even.
    explicit WorkerMap(std::size_t mostColumns = kMostColumns);

    // Steps that come again (a run that was gone on with from a checkpoint) are further columns: they took their time too.
    void add(const WorkerTimes& block);
    void add(const WorkerClocks& clocks);  // in order of time

    std::int64_t workers() const { return m_workers; }
    std::int64_t steps() const { return m_stepsAdded; }
    // Those that took any time, in the order of a step.
    std::vector<std::string> phases() const;
    // phase: empty: the whole step; kWork: all but waiting for the others. Of a phase that nobody has every cell is 0.
    WorkerGrid grid(const std::string& phase = {}) const;
    // ns of a step, by worker; NaN: made none.
    std::vector<double> means(const std::string& phase = {}) const;
    // Who keeps the others waiting, and with what; or that nobody does. Empty where there are not two workers with steps.
    std::string slowest() const;
    // By worker; none where no clocks were compared, as in sessions of earlier versions.
    std::vector<ClockFacts> clocks() const;
    // How closely the times of others can be held beside the first one's. Empty where nobody knows.
    std::string clockWords() const;

    static constexpr const char* kWork = "work";

private:
    struct Sum {
        double ns = 0, most = 0;
    };
    struct Column {
        std::int64_t first = 0, last = 0, steps = 0;
        std::vector<std::int64_t> made;  // steps, by worker
        std::vector<Sum> sums;           // workers x phases, then of each worker the whole step and its work
    };
    struct Clock {
        ClockFacts facts;
        ClockReading first, last;  // of the same process
    };
    void widen(std::int64_t workers, const std::vector<std::string>& phases);
    void halve();
    static void fold(Column& into, const Column& from);
    std::size_t width() const { return m_phases.size() + 2; }
    std::size_t placeOf(const std::string& phase) const;  // among the sums of a worker; width(): nobody has it

    std::size_t m_most;
    std::int64_t m_workers = 0, m_stepsAdded = 0, m_stepsInColumn = 1;
    std::vector<std::string> m_phases;
    std::vector<Column> m_columns;
    std::vector<Clock> m_clocks;  // by worker
};

}  // namespace stepscope
