// AdamW's moments in 8 bits (Dettmers et al. 2022): a byte a value and a float32 scale for every 256 values of a parameter, about a
// quarter of float32's memory. The State holds the bytes; an update decodes, moves and encodes one block at a time, on the CPU here, on a GPU by
// core/cuda/AdamWEightBit.cu.
#pragma once
#include "core/state/Optimizer.h"

namespace stepscope {

// Converts both moments of the State in place, for one on a GPU by way of the CPU; nothing when they are in that form already. Returns the relative
// error (root mean square of the difference over that of the values) of the moment that lost more; 0 when nothing was rounded.
double toEightBit(TrainState& state);
void toFloat(TrainState& state);

// The moments in float32, whatever their form: the State's own where they are that already, else copies on the CPU.
struct FloatMoments {
    at::Tensor first, second;  // (layout.size())
};
FloatMoments floatMoments(const TrainState& state);

// The blocks of each parameter begin anew: first block of every slot, and the number of all blocks at the end.
std::vector<std::int64_t> blockOffsets(const ParameterLayout& layout);

// moments: uint8; firstScales, secondScales: float32, one a block. Gradients must be finite: a block's scale would be lost for good.
void adamWEightBit(ParameterGroup& group, const AdamW& settings);

}  // namespace stepscope
