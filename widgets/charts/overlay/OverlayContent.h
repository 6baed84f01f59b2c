// OverlayContent: what a chart of the page Live shows while stored runs are laid over each other: one line a run, or a median and a band a group.
// Put into the charts by LivePage::setOverlay. GUI thread.
#pragma once
#include <memory>

#include "core/analysis/overlay/OverlaidRun.h"
#include "widgets/charts/ChartContent.h"

namespace stepscope {

std::unique_ptr<ChartContent> makeOverlayContent(RunMetric metric);
LegendItem::Mark overlayMark(std::size_t colour);  // as overlayDash draws it

}  // namespace stepscope
