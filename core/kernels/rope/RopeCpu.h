// Rotary positions on the CPU, in place over a range of token rows, whose heads lie side by side. Called by the whole-step program; any thread. T is
// float or Bf16, arithmetic is float32.
#pragma once
#include <cstdint>

#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct RopeShape {
    std::int64_t context = 1;           // the position of row r is r % context
    std::int64_t heads = 1, width = 2;  // width of one head, even
    std::int64_t stride = 2;            // elements from row to row
};

template <class T>
struct RopeTable {
    // Turns every head of rows [begin, end) by cosines, sines (context, width / 2) of its position; back = the other way, which is the gradient.
    void (*rotate)(RopeShape shape, T* rows, const float* cosines, const float* sines, bool back, std::int64_t begin, std::int64_t end);
};
STEPSCOPE_ISA_TABLES(RopeTable, rope)

}  // namespace stepscope
