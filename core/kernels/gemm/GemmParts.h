// What the forms of the products (GemmProducts.isa.cpp, GemmTiles.h) have in common. Included by *.isa.cpp files only.
#pragma once
#include "core/kernels/gemm/GemmTable.h"
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using i64 = std::int64_t;
using Word = std::uint32_t;

inline i64 least(i64 a, i64 b) {
    return a < b ? a : b;
}
inline const Word* rowAt(const gemm::Rows& a, i64 row) {
    return a.words + row / gemm::kPanel * a.blockStride + row % gemm::kPanel * a.rowStride;
}

// The next panel of B is brought near while this one is worked on, a part with each strip: weights come from far away, once.
struct Prefetch {
    const Word* next;
    i64 lines, perStrip;
    Prefetch(const Word* panel, i64 steps, i64 strips)
        : next(panel), lines(panel == nullptr ? 0 : steps * gemm::kPanel / 16), perStrip((lines + strips - 1) / strips) {}
    void part() {
        const i64 now = lines < perStrip ? lines : perStrip;
        for (i64 line = 0; line < now; ++line) __builtin_prefetch(next + line * 16, 0, 2);
        next += now * 16;
        lines -= now;
    }
};

// Columns that are fewer than a panel's, and an odd last row, go through a tile of their own.
inline void copyTile(const float* tile, i64 rows, i64 wide, float* to, i64 stride, bool add) {
    for (i64 r = 0; r < rows; ++r)
        for (i64 j = 0; j < wide; ++j) to[r * stride + j] = add ? to[r * stride + j] + tile[r * gemm::kPanel + j] : tile[r * gemm::kPanel + j];
}

}  // namespace
}  // namespace stepscope::STEPSCOPE_ISA
