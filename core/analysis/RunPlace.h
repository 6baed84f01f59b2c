// A place in a run, and the axes along which runs are shown. Plain values.
#pragma once

namespace stepscope {

// The x axis that all charts share. Energy: where the machine tells it. LearningRate: of a range test alone, whose rate only rises.
enum class XAxis { Step, Tokens, WallTime, Energy, LearningRate };

// A place in the run under every x axis. `seconds` since the session began.
struct RunPlace {
    double step = 0, tokens = 0, seconds = 0;
    double rate = 0;    // learning rate of the step
    double joules = 0;  // that whole processors and GPUs used since the first that is known, all programs on them together
    double on(XAxis axis) const {
        switch (axis) {
            case XAxis::Step:
                return step;
            case XAxis::Tokens:
                return tokens;
            case XAxis::WallTime:
                return seconds;
            case XAxis::Energy:
                return joules;
            case XAxis::LearningRate:
                return rate;
        }
        return 0;
    }
};

}  // namespace stepscope
