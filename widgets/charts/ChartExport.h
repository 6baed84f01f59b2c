// ChartExport: one chart as a picture, as a drawing, and as its values: all of those in the visible part of the run, not the few that its pixels
// have room for. Called by LivePage for the clipboard and for files. GUI thread.
#pragma once
#include <QImage>
#include <QString>
#include <memory>
#include <string>

#include "core/base/Result.h"

class QMimeData;

namespace stepscope {

class ChartView;

QImage pictureOf(ChartView& chart);                            // at twice the pixels it has, for documents
std::unique_ptr<QMimeData> clipboardDataOf(ChartView& chart);  // that picture, and the drawing as image/svg+xml: who pastes it takes which it can
std::string valuesOf(const ChartView& chart);                  // CSV: step, tokens, seconds, then the chart's columns; unknown values are empty
// By the ending of the name: .png, .svg or .csv. Whole or not at all.
Result<void> saveChart(ChartView& chart, const QString& path);

}  // namespace stepscope
