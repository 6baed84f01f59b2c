// Moments that are dealt out among the workers of a run, brought together again: for a checkpoint, which does not depend on how many there are, and
// before the State changes its form. All workers call each of them at the same boundary between two steps. Trainer thread; throws WorkersApart.
#pragma once
#include "core/program/DataParallel.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {

// Both moments whole, in memory of the host, from the parts of all. Undefined with a worker that does not want them: it needs no memory for them.
FloatMoments gatheredMoments(const TrainState& state, DataParallel& others, bool wanted);

// Every worker's State holds both moments whole from here on.
void makeWhole(TrainState& state, DataParallel& others);

}  // namespace stepscope
