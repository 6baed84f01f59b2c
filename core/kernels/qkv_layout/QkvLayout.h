// The two layouts of attention's heads: the plain reference, its sums in double, that every fast version is held against. Called by tests; any
// thread, no state. Shapes as in QkvLayoutCpu.h; here the heads of all parts are one row of numbers, part after part.
#pragma once
#include <span>
#include <vector>

#include "core/kernels/qkv_layout/QkvLayoutCpu.h"

namespace stepscope {

// bias (parts*C) may be empty = none.
std::vector<float> qkvLayoutSplit(HeadShape shape, std::int64_t parts, std::span<const float> rows, std::span<const float> bias);
std::vector<float> qkvLayoutMerge(HeadShape shape, std::int64_t parts, std::span<const float> heads);
// Of every column of rows, the gradient of its bias.
std::vector<float> qkvLayoutColumnSums(std::int64_t columns, std::span<const float> rows);

}  // namespace stepscope
