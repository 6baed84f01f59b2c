// Zeros among the weights of the blocks' matrices, as pruning leaves them, and what a run with keep-zeros needs of a State: where a weight is zero
// both moments are, or AdamW would move it without any gradient. Called before a run begins, and by whoever prunes.
#pragma once
#include "core/state/TrainState.h"

namespace stepscope {

// Sets both moments to zero where a weight of the blocks' matrices is zero; returns how many weights that are. The State's moments are whole and in
// float32; they stay zero when they are brought into 8 bits.
std::int64_t restMomentsOfZeros(TrainState& state);

}  // namespace stepscope
