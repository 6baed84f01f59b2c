// What a step has to compute, counted from its plan: floating-point operations of its matrix products and of its attention, bytes that pass through
// memory for its update. Used to say which share of this machine's peaks a step reaches, and to predict its time. Torch-free; any thread.
#pragma once
#include "core/events/RunPlan.h"
#include "core/prediction/EagerMemory.h"

namespace stepscope {

struct StepWork {          // of one update, all its micro-batches
    double tokens = 0;     // that are trained
    double products = 0;   // FLOP of the linear layers: 2 a weight and token forward, twice that backward, once more where a block is run again
    double head = 0;       // of them, those of the vocabulary
    double attention = 0;  // FLOP of scores and of what they weigh (AttentionWork.h): forward, and twice that backward
    // Read and written, pass over memory by pass as the optimizer is written (core/state/Optimizer.cpp):
    double updateBytes = 0;    // by AdamW: weights, gradients, both moments, and what it keeps between its operations
    double clipBytes = 0;      // for the gradients' norm, and where the optimizer does not scale them itself for that
    double clearingBytes = 0;  // to fill gradients that are kept with zeros, and to add the first new ones to them
};

// sizes: as for the prediction of memory; its vocabulary is the padded one.
StepWork stepWork(const RunPlan& plan, const ModelSizes& sizes);

}  // namespace stepscope
