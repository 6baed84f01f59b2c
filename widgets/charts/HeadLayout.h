// HeadLayout: which legend items stand in which row of a chart's head, by their full or short names, and which lose their number where there
// is no room for it. Pure geometry, no painter: tested as text. Called by paintHead.
#pragma once
#include <functional>
#include <vector>

#include "widgets/charts/ChartContent.h"

namespace stepscope {

using TextWidth = std::function<double(const QString&)>;

constexpr double kSwatch = 12;
constexpr double kSwatchGap = 4;
constexpr double kItemGap = 10;

double itemWidth(const LegendItem& item, const TextWidth& width);
double legendWidth(const std::vector<LegendItem>& items, const TextWidth& width);

struct HeadRows {
    std::vector<LegendItem> title, below;  // beside the title, and in the row below it
};

// titleRoom: right of the title. belowRoom: of the second row, 0 where there is none. Where the series have no room below, even by their short
// names, the last of them move up beside the title; where there is none either, numbers go, from the last on, before any name does: a colour
// without a name says nothing.
HeadRows layHead(std::vector<LegendItem> items, double titleRoom, double belowRoom, const TextWidth& width);

}  // namespace stepscope
