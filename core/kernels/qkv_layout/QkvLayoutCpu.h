// The two layouts of attention's heads on the CPU: token rows (B*T, parts*C), as a matrix product writes them, and one block per head
// (B, H, T, D) per part, C = H*D. parts = 3 is QKV; parts = 1 is attention's output. Over a range of token rows; called by core/fused;
// any thread. T is float or Bf16.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct HeadShape {
    std::int64_t context = 1;  // T
    std::int64_t heads = 1;    // H
    std::int64_t width = 1;    // D, of one head
};

template <class T>
struct QkvLayoutTable {
    // heads[p][b][h][t] = rows[b*T + t][p][h] + bias[p][h] for token rows [begin, end). bias (parts*C) or null = none.
    void (*split)(HeadShape shape, std::int64_t parts, const T* rows, const float* bias, T* const* heads, std::int64_t begin, std::int64_t end);
    // The way back; biasSums (parts*C) += the sums over this range's rows, null = not wanted.
    void (*merge)(HeadShape shape, std::int64_t parts, const T* const* heads, T* rows, float* biasSums, std::int64_t begin, std::int64_t end);
    // sums (columns) += rows [begin, end) of `rows` (rows, columns): a bias gradient where nothing has to be moved.
    void (*columnSums)(std::int64_t columns, const T* rows, float* sums, std::int64_t begin, std::int64_t end);
};
STEPSCOPE_ISA_TABLES(QkvLayoutTable, qkvLayout)

}  // namespace stepscope
