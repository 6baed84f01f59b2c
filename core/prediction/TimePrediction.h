// What a change is predicted to do to the time of a step, from what this machine was measured to reach: products and attention of another number
// format or another size, and the bytes that an update moves. Whatever else changes cannot be told from peaks and is left to a measurement.
// Torch-free; any thread.
#pragma once
#include <string>

#include "core/prediction/MachinePeaks.h"
#include "core/prediction/StepWork.h"

namespace stepscope {

// A step as it was timed.
struct StepTimes {
    double ms = MachinePeaks::kNotMeasured;
    double updateMs = 0;  // of them, what does not grow with the batch: clipping and the optimizer
    double manualAttentionMs = MachinePeaks::kNotMeasured, sdpaAttentionMs = MachinePeaks::kNotMeasured;  // of one layer and micro-batch
};

struct TimePrediction {
    bool known = false;                      // else: measure it
    double ms = MachinePeaks::kNotMeasured;  // of a step with the other plan
    double msPerToken = MachinePeaks::kNotMeasured;
    double ratio = MachinePeaks::kNotMeasured;  // time per token now ÷ then: above 1 it is predicted to be faster
    std::string basis;                          // what it rests on, a few words
};

// now: the plan that was timed, with its work; other: the plan to be told of. Known where the two differ in nothing but: the number format of
// products (both peaks measured), written-out or the library's attention (both measured), batch size, accumulation, blocks that are run again, and,
// where the update takes as long as memory needs for its bytes, how often AdamW in float32 goes over them and whether gradients are kept.
// Products take FLOP ÷ peak and updates bytes ÷ bandwidth, at most the time that was measured; all that is neither, nor attention, stays as it is, by
// token or by update.
TimePrediction predictTime(const RunPlan& now, const RunPlan& other, const ModelSizes& sizes, const StepTimes& times, const MachinePeaks& peaks);

}  // namespace stepscope
