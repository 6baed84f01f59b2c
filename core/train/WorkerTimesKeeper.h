// WorkerTimesKeeper: what every worker of a run took for the phases of its steps, with the first one, who hands it on to be stored. Gathered once in
// so many steps, between them: it costs a step next to nothing, and no more than that many are in memory. Trainer thread, with each worker.
#pragma once
#include <cstddef>
#include <vector>

#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "core/trace/WorkerTimes.h"

namespace stepscope {

class ClockExchange;
class DataParallel;

class WorkerTimesKeeper {
public:
    static constexpr std::size_t kStepsAtOnce = 64;

    // others: null where the run has one worker: nothing is kept. clocks: where it is time, all workers compare theirs behind what is gathered.
    WorkerTimesKeeper(DataParallel* others, EventSink* sink, ClockExchange& clocks) : m_others(others), m_sink(sink), m_clocks(clocks) {}

    // After each step, by all workers. Throws WorkersApart, as the next.
    void add(const StepDone& done);
    // What is there, by all workers after the same step.
    void flush();
    // The same at the end of a run that was stopped: where a worker is lost meanwhile, these steps alone are.
    void finish();

private:
    DataParallel* m_others;
    EventSink* m_sink;
    ClockExchange& m_clocks;
    std::vector<WorkerTimes::Step> m_steps;
    std::vector<double> m_own;  // ns, steps x phases: those of core/events' Phase, and what belongs to none
};

}  // namespace stepscope
