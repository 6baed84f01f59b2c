// MarkerLayout: which vertical markers of a chart are drawn and where their labels stand, so that none covers another.
// Pure geometry, no painter: tested as numbers. Called by ChartView while drawing.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace stepscope {

struct MarkerRequest {
    double x = 0;            // pixels from the left of the plot
    double labelWidth = 0;   // 0 = no label wanted
    bool important = false;  // gets its label first (a flip before a checkpoint)
};

struct PlacedMarker {
    std::size_t request = 0;
    double x = 0;
    int row = -1;  // of the label, 0 = top; -1 = no room for it
    double labelLeft = 0;
    double labelWidth = 0;  // at most as asked; shorter labels are elided
};

// requests in order of x. Lines closer than a few pixels to the one before are left out unless important.
std::vector<PlacedMarker> placeMarkers(const std::vector<MarkerRequest>& requests, double width, int rows);

// A flag over one place, or over several whose flags would touch.
struct PlacedFlag {
    std::size_t first = 0, last = 0;
    double left = 0, width = 0;
};
// places: increasing, in pixels. flagWidth: of the flag over the places first to last.
std::vector<PlacedFlag> placeFlags(const std::vector<double>& places, const std::function<double(std::size_t first, std::size_t last)>& flagWidth,
                                   double width);

}  // namespace stepscope
