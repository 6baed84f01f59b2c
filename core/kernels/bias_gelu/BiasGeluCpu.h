// bias + GELU (tanh form) on the CPU, forwards and backwards, over a range of rows, so that any caller can share rows among its
// threads. Called by core/fused and by the whole-step program. Row-major (rows, columns); T is float or Bf16, arithmetic is float32.
// Non-finite numbers come out as BiasGelu.h's plain form gives them.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

template <class T>
struct BiasGeluTable {
    // out[r][c] = gelu(in[r][c] + bias[c]) for rows [begin, end). out may be in. bias null = none.
    void (*forward)(std::int64_t columns, const T* in, const float* bias, T* out, std::int64_t begin, std::int64_t end);
    // gradIn[r][c] = gradOut[r][c] * gelu'(in[r][c] + bias[c]) for rows [begin, end); gradBias[c] += their sum, null = not wanted.
    // gradIn may be gradOut.
    void (*backward)(std::int64_t columns, const T* gradOut, const T* in, const float* bias, T* gradIn, float* gradBias, std::int64_t begin,
                     std::int64_t end);
};
STEPSCOPE_ISA_TABLES(BiasGeluTable, biasGelu)

}  // namespace stepscope
