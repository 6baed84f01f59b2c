// A run as a trainer would publish it, without one: for the tests, the gallery and the bench of the charts.
#pragma once
#include <cstdint>
#include <memory>

#include "core/analysis/RunHistory.h"

namespace stepscope {

struct SyntheticRun {
    std::int64_t steps = 1240;  // done
    std::int64_t planned = 2000;
    bool events = true;  // flips, checkpoints, validation
    bool gpu = false;
    bool fp16 = false;  // with a loss scale, and an overflow every 300 steps
    bool clips = true;
    int slowSteps = 0;  // at the beginning, forty times as long as the others
    int flips = 0;      // more of them, evenly over the second half
    double msPerStep = 24;
    RunState state = RunState::Running;

    RunConfig config() const;
    std::shared_ptr<RunHistory> history() const;
    void appendSteps(RunHistory& history, std::int64_t from, std::int64_t to) const;  // (from, to]
};

}  // namespace stepscope
