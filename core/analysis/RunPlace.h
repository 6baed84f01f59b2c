// A place in a run, and the axes along which runs are shown. Plain values.
#pragma once

namespace stepscope {

// The x axis that all charts share. LearningRate: of a range test alone, whose rate only rises.
enum class XAxis { Step, Tokens, WallTime, LearningRate };

// A place in the run under every x axis. `seconds` since the session began.
struct RunPlace {
    double step = 0, tokens = 0, seconds = 0;
    double rate = 0;  // learning rate of the step
    double on(XAxis axis) const { return axis == XAxis::Step ? step : axis == XAxis::Tokens ? tokens : axis == XAxis::WallTime ? seconds : rate; }
};

}  // namespace stepscope
