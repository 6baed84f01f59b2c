// What a step has to compute, counted from its plan: floating-point operations of its matrix products and of its attention, bytes of its update. Used
// to say which share of this machine's peak a step reaches, and to predict its time. Torch-free; any thread.
#pragma once
#include "core/events/RunPlan.h"
#include "core/prediction/EagerMemory.h"

namespace stepscope {

struct StepWork {            // of one update, all its micro-batches
    double tokens = 0;       // that are trained
    double products = 0;     // FLOP of the linear layers: 2 a weight and token forward, twice that backward, once more where a block is run again
    double head = 0;         // of them, those of the vocabulary
    double attention = 0;    // FLOP of scores and of what they weigh (AttentionWork.h): forward, and twice that backward
    double updateBytes = 0;  // that AdamW reads and writes: weights, gradients and both moments
};

// sizes: as for the prediction of memory; its vocabulary is the padded one.
StepWork stepWork(const RunPlan& plan, const ModelSizes& sizes);

}  // namespace stepscope
