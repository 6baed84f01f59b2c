// WidgetPicture: what a widget that draws itself shows, as a picture or a drawing in a file: the timeline, flame graphs, rooflines, charts of
// queries. The charts of a run have their own (charts/ChartExport), which hold what their pixels do not. GUI thread.
#pragma once
#include <QString>

#include "core/base/Result.h"

class QWidget;

namespace stepscope {

// By the ending of the name: .png, at twice the pixels it has, or .svg. Whole or not at all.
Result<void> saveWidgetPicture(QWidget& widget, const QString& path);

// A menu at the right mouse button and the menu key that saves it; name: of the file that is suggested.
void offerPicture(QWidget& widget, const QString& name);

}  // namespace stepscope
