// Breakdown: why a step could not be made, and the sentence for the person: what broke, what probably caused it, what to do. The
// Programs say which; the loop knows the rest. Pure; trainer thread.
#pragma once
#include <cstdint>
#include <string>

namespace stepscope {

enum class Breakdown {
    None,
    Loss,       // the loss is infinite or no number
    Gradients,  // the loss is a number, a gradient is not; the State is as it was
    State,      // the step was made, and its update left weights or moments that are no numbers
};

struct BreakdownFacts {
    Breakdown kind = Breakdown::Loss;
    std::int64_t step = 0;  // that could not be made, or that broke the State
    double rate = 0;
    double lossBefore = 0;      // of the last step that could; NaN = none
    double lowestLoss = 0;      // of the run so far; NaN = none
    bool stateIsFinite = true;  // weights and moments before that step
    bool clips = true;
    bool fp16 = false;
    std::string checkpoint;  // newest whose weights gave a loss; empty = there is none
    std::string kept;        // where the weights lie with which this step could not be made; empty = nowhere
};

std::string breakdownSentence(const BreakdownFacts& facts);

}  // namespace stepscope
