// Residual addition + LayerNorm or RMSNorm on the CPU, forwards and backwards, over a range of rows. Called by core/fused and by the
// whole-step program; any thread. T is float or Bf16. LayerNorm: Ba et al. 2016; RMSNorm: Zhang and Sennrich 2019.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"
#include "core/kernels/residual_norm/NormArguments.h"

namespace stepscope {

struct NormRows {
    std::int64_t columns = 0;
    std::int64_t stride = 0;  // elements from row to row of normed and its gradient; 0 = columns
};

// For rows [begin, end) of what the arguments point to.
template <class T>
struct ResidualNormTable {
    void (*forward)(NormRows rows, const NormForward<T>& norm, std::int64_t begin, std::int64_t end);
    // gradWeight and gradBias += this range's sums.
    void (*backward)(NormRows rows, const NormBackward<T>& norm, std::int64_t begin, std::int64_t end);
};
STEPSCOPE_ISA_TABLES(ResidualNormTable, residualNorm)

}  // namespace stepscope
