// bias + SwiGLU on the CPU, forwards and backwards, over a range of rows: silu(gate) * up, where a row of `in` holds `columns` gates, then
// as many ups (Shazeer, "GLU Variants Improve Transformer", 2020). Called by core/fused and by the whole-step program; any thread.
// T is float or Bf16, arithmetic is float32.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

template <class T>
struct SwigluTable {
    // in (rows, 2 columns), bias (2 columns) or null = none, out (rows, columns).
    void (*forward)(std::int64_t columns, const T* in, const float* bias, T* out, std::int64_t begin, std::int64_t end);
    // gradOut (rows, columns); gradIn (rows, 2 columns), may be in; gradBias (2 columns) += this range's sums, null = not wanted.
    void (*backward)(std::int64_t columns, const T* gradOut, const T* in, const float* bias, T* gradIn, float* gradBias, std::int64_t begin,
                     std::int64_t end);
};
STEPSCOPE_ISA_TABLES(SwigluTable, swiglu)

}  // namespace stepscope
