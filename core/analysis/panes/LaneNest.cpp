#include "core/analysis/panes/LaneNest.h"

#include <algorithm>
#include <tuple>

namespace stepscope {

void nestLane(std::vector<NestedSlice>& slices) {
    std::ranges::sort(slices, [](const NestedSlice& a, const NestedSlice& b) {
        return std::tuple(a.start, a.depth, -a.end, a.text) < std::tuple(b.start, b.depth, -b.end, b.text);
    });
    struct Open {
        std::size_t place = 0;
        std::int64_t covered = 0;  // up to where those in it are counted
    };
    std::vector<Open> open;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        NestedSlice& one = slices[i];
        one.self = one.length();
        while (!open.empty() && (slices[open.back().place].end <= one.start || slices[open.back().place].depth >= one.depth)) {
            // Of no length at the end of what holds it: it still lies in it.
            if (one.length() == 0 && slices[open.back().place].end == one.start && slices[open.back().place].depth < one.depth) break;
            open.pop_back();
        }
        one.inStep = one.kind == SliceKind::Step;
        if (!open.empty()) {
            Open& within = open.back();
            NestedSlice& outer = slices[within.place];
            one.parent = static_cast<std::int32_t>(within.place);
            one.inStep = one.inStep || outer.inStep;
            // What several cover together counts once.
            const std::int64_t from = std::max(one.start, within.covered), to = std::min(one.end, outer.end);
            if (to > from) {
                outer.self -= to - from;
                within.covered = to;
            }
        }
        open.push_back({i, one.start});
    }
}

}  // namespace stepscope
