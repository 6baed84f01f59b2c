// MomentShare: which part of AdamW's moments a State holds. Of several workers of a run each may hold its own and update its own part of the weights
// (Rajbhandari et al. 2020, "ZeRO", stage 1). Any thread.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/ParameterLayout.h"

namespace stepscope {

struct MomentShare {
    std::int64_t rank = 0, of = 1;  // the rank-th of so many parts

    bool whole() const { return of == 1; }
    bool operator==(const MomentShare&) const = default;
};

struct MomentRange {
    std::int64_t begin = 0, end = 0;  // elements of the layout
    std::int64_t count() const { return end - begin; }
};

// Where `of` parts of about the same size begin, and behind them the end of the layout. A parameter is cut at multiples of 64 elements from its
// first, so that operations over a part take the same elements together as over the whole, and round alike.
std::vector<std::int64_t> momentBounds(const ParameterLayout& layout, std::int64_t of);
MomentRange momentRange(const ParameterLayout& layout, const MomentShare& share);

}  // namespace stepscope
