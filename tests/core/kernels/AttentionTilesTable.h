// The product of AttentionTilesTest.isa.cpp, for AttentionTilesTest.cpp.
#pragma once
#include <cstdint>

#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct TiledProduct {
    // c (rows, columns) = or += A * B over `units` words of two bf16: A's word (r, p) at a[r * row + p * place], B's (p, n) at b[p * bRow + n].
    void (*run)(std::int64_t rows, std::int64_t columns, std::int64_t units, const std::uint32_t* a, std::int64_t row, std::int64_t place,
                const std::uint32_t* b, std::int64_t bRow, float* c, std::int64_t cRow, bool add);
    bool pairs;  // whether this set multiplies pairs, which what is left of the units needs
};
STEPSCOPE_ISA_TABLE(TiledProduct, tiledProduct)

}  // namespace stepscope
