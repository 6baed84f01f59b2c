// Rows of float32 to bfloat16 and back on the CPU. The reference is a single element's toBf16 and toFloat (isa/Bf16.h). Called by core/program for
// gradients that workers send each other; any thread.
#pragma once
#include <cstdint>

#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct RoundingTable {
    // halves[i] = values[i] to nearest, ties to even, for i in [0, count): off by at most 2^-8 of it. NaN stays NaN, what is beyond bfloat16's range
    // becomes infinite; denormal numbers become 0 where AVX512-BF16 rounds.
    void (*round)(const float* values, Bf16* halves, std::int64_t count);
    // values[i] = halves[i], exactly.
    void (*widen)(const Bf16* halves, float* values, std::int64_t count);
};
STEPSCOPE_ISA_TABLE(RoundingTable, roundingTable)

inline const RoundingTable& roundingCpu() {
    return STEPSCOPE_PICK_ISA(roundingTable);
}

}  // namespace stepscope
