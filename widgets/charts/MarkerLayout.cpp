#include "widgets/charts/MarkerLayout.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

constexpr double kLeastDistance = 4;
constexpr double kMarkerGap = 3;  // between a line and its label
constexpr double kWidestLabel = 110;
constexpr double kNarrowestLabel = 24;  // below that an elided label says nothing

struct Span {
    double left = 0, right = 0;
};

bool isFree(const std::vector<Span>& taken, double left, double right) {
    return std::none_of(taken.begin(), taken.end(), [&](const Span& span) { return left < span.right && right > span.left; });
}

bool placeLabel(PlacedMarker& marker, double wanted, std::vector<std::vector<Span>>& taken, double width) {
    const double full = std::min(wanted, kWidestLabel);
    for (const double share : {1.0, 0.6}) {
        const double size = std::max(full * share, std::min(full, kNarrowestLabel));
        for (std::size_t row = 0; row < taken.size(); ++row) {
            for (const double left : {marker.x + kMarkerGap, marker.x - kMarkerGap - size}) {
                if (left < 0 || left + size > width || !isFree(taken[row], left - kMarkerGap, left + size + kMarkerGap)) continue;
                taken[row].push_back({left, left + size});
                marker.row = static_cast<int>(row);
                marker.labelLeft = left;
                marker.labelWidth = size;
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::vector<PlacedMarker> placeMarkers(const std::vector<MarkerRequest>& requests, double width, int rows) {
    std::vector<PlacedMarker> placed;
    double before = -1e9;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const MarkerRequest& request = requests[i];
        if (request.x < 0 || request.x > width) continue;
        if (!request.important && request.x - before < kLeastDistance) continue;
        before = request.x;
        placed.push_back({i, request.x});
    }
    std::vector<std::vector<Span>> taken(static_cast<std::size_t>(std::max(0, rows)));
    for (const bool important : {true, false})
        for (PlacedMarker& marker : placed)
            if (requests[marker.request].important == important && requests[marker.request].labelWidth > 0)
                placeLabel(marker, requests[marker.request].labelWidth, taken, width);
    return placed;
}

std::vector<PlacedFlag> placeFlags(const std::vector<double>& places, const std::function<double(std::size_t, std::size_t)>& flagWidth,
                                   double width) {
    constexpr double kFlagGap = 1;
    std::vector<PlacedFlag> flags;
    // Over the middle of its places, but beside the flag before.
    const auto place = [&](std::size_t first, std::size_t last) {
        const double size = flagWidth(first, last), before = flags.empty() ? 0 : flags.back().left + flags.back().width + kFlagGap;
        return PlacedFlag{first, last, std::max((places[first] + places[last] - size) / 2, before), size};
    };
    for (std::size_t i = 0; i < places.size();) {
        PlacedFlag flag = place(i, i);
        while (flag.last + 1 < places.size() && places[flag.last + 1] < flag.left + flag.width) flag = place(i, flag.last + 1);
        i = flag.last + 1;
        flags.push_back(flag);
    }
    // What would stand beyond the right end goes into the flag before it.
    while (!flags.empty() && flags.back().left + flags.back().width > width) {
        PlacedFlag last = flags.back();
        flags.pop_back();
        if (const double before = flags.empty() ? 0 : flags.back().left + flags.back().width + kFlagGap;
            width - last.width >= before || flags.empty()) {
            last.left = std::max(0.0, width - last.width);
            flags.push_back(last);
            break;
        }
        const std::size_t first = flags.back().first;
        flags.pop_back();
        flags.push_back(place(first, last.last));
    }
    return flags;
}

}  // namespace stepscope
