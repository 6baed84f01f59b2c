// RaceRunner: carries out the orders of a Race: makes a configuration's Program and State anew, lets them settle, and times a block of steps with the
// device waited for. One configuration is in memory at a time. Trainer thread; a stop is asked from any.
#pragma once
#include <atomic>

#include "core/data/BatchSource.h"
#include "core/experiment/Race.h"
#include "core/profile/ProcessorTimes.h"
#include "core/program/ProgramFactory.h"

namespace stepscope {

struct RaceRunnerSetup {
    std::shared_ptr<const BatchSource> batches;
    std::shared_ptr<const TrainState> start;  // that every block begins with, in the form that its plan asks for
    const ProgramFactory* factory = nullptr;
    const SessionClock* clock = nullptr;
    const std::atomic<bool>* stop = nullptr;
};

struct RaceBlock {
    RaceTimes times;
    double tokensPerSecond = kUnknown, peakBytes = kUnknown;
    bool stopped = false;  // the times say nothing
};

class RaceRunner {
public:
    explicit RaceRunner(RaceRunnerSetup setup);
    // config: complete, what plan was made of. A block that breaks off says so in its times; nothing is thrown.
    RaceBlock run(const RunConfig& config, const RunPlan& plan, const RaceOrder& order);

private:
    RaceBlock timed(const RunConfig& config, const RunPlan& plan, const RaceOrder& order);
    bool stopAsked() const { return m_setup.stop != nullptr && m_setup.stop->load(); }

    RaceRunnerSetup m_setup;
    std::vector<int> m_processors;
    TimeNs m_begin;
};

}  // namespace stepscope
