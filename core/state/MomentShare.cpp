#include "core/state/MomentShare.h"

#include <algorithm>

#include "core/base/Check.h"

namespace stepscope {
namespace {

constexpr std::int64_t kCut = 64;  // elements

}  // namespace

std::vector<std::int64_t> momentBounds(const ParameterLayout& layout, std::int64_t of) {
    SS_CHECK(of >= 1);
    std::vector<std::int64_t> bounds{0};
    for (std::int64_t part = 1; part < of; ++part) {
        const std::int64_t even = layout.size() / of * part + layout.size() % of * part / of;
        const auto behind = std::ranges::upper_bound(layout.slots(), even, {}, &ParameterSlot::offset);
        const std::int64_t offset = std::prev(behind)->offset;
        bounds.push_back(offset + (even - offset) / kCut * kCut);
    }
    bounds.push_back(layout.size());
    return bounds;
}

MomentRange momentRange(const ParameterLayout& layout, const MomentShare& share) {
    SS_CHECK(share.rank >= 0 && share.rank < share.of);
    const auto bounds = momentBounds(layout, share.of);
    const auto part = static_cast<std::size_t>(share.rank);
    return {bounds[part], bounds[part + 1]};
}

}  // namespace stepscope
