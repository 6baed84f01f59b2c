// ExperimentRoom: whether both sides of an experiment have room at a time, on their device and in the host's memory, where the States lie that both
// begin with. Asked by LiveExperiment before anything is built. Pure function, any thread.
#pragma once
#include <array>
#include <optional>

#include "core/base/Result.h"
#include "core/base/Units.h"

namespace stepscope {

struct SideNeed {
    Bytes tensors;           // predicted, on its device: State, Program and a step
    Bytes state;             // the part of it that is the State
    std::optional<int> gpu;  // nothing: the CPU
    Bytes available;         // on its device
};

struct ExperimentNeed {
    std::array<SideNeed, 2> sides;  // A, B: each has room alone
    Bytes start;                    // of a State as it begins: the larger one's, float32
    std::int64_t starts = 1;        // how many of them are held: one where both sides begin with the same one
    Bytes hostAvailable;
};

// Bytes of a State of so many parameters as it begins: weights and both moments, float32.
Bytes startBytes(std::int64_t parameters);

// Whether one State at a time must do, the other one in the host's memory meanwhile: true; both have room: false. Not even that, or the host lacks
// the room for what lies there: OutOfMemory with what is needed and what there is.
Result<bool> mustSwap(const ExperimentNeed& need);

}  // namespace stepscope
