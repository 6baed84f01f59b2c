// ProgressBar: one line on a terminal that is drawn over and over: step, share, time left, speed, loss. At most ten times a
// second, so that drawing costs a training of any size nothing. Owned by ConsoleSink, which serialises the calls.
#pragma once
#include <chrono>
#include <string>

#include "core/events/RunEvents.h"

namespace stepscope::cli {

class ProgressBar {
public:
    void begin(std::int64_t firstStep, std::int64_t lastStep);
    void advance(const StepDone& step);
    void preparing(const Preparing& what);
    void clear();  // before anything else is written to the terminal

    // The line for what is known so far, as wide as `columns` at most.
    std::string line(std::size_t columns) const;

private:
    void draw(bool now);

    std::int64_t m_first = 0, m_last = 0;
    StepDone m_step;
    double m_nsPerStep = 0;  // smoothed over about the last 20 steps
    std::string m_preparing;
    bool m_shown = false;
    std::chrono::steady_clock::time_point m_drawn{};
};

}  // namespace stepscope::cli
