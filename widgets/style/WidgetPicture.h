// WidgetPicture: what a widget that draws itself shows, as a picture or a drawing in a file: the timeline, flame graphs, rooflines, charts of
// queries and of what was compared. The charts of a run have their own (charts/ChartExport), which hold what their pixels do not. GUI thread.
#pragma once
#include <QByteArray>
#include <QString>
#include <functional>
#include <memory>

#include "core/base/Result.h"

class QImage;
class QMimeData;
class QPainter;
class QWidget;

namespace stepscope {

// As the bytes of a file. A drawing has the size and the resolution of `widget`; its title and description stand in it.
QByteArray pngBytes(const QImage& image);
QByteArray svgBytes(const QWidget& widget, const QString& title, const QString& description, const std::function<void(QPainter&)>& paint);
// Whole or not at all; errors: Io.
Result<void> writePicture(const QString& path, const QByteArray& bytes);

// By the ending of the name: .png, at twice the pixels it has, or .svg. Whole or not at all.
Result<void> saveWidgetPicture(QWidget& widget, const QString& path);

// For the clipboard: that picture, and the drawing as image/svg+xml: who pastes it takes which it can.
std::unique_ptr<QMimeData> widgetClipboardData(QWidget& widget);

// A menu at the right mouse button and the menu key that copies and saves it; name: of the file that is suggested. csv: what is drawn as rows
// (CsvText.h), asked when somebody wants it; none: of that there is nothing to copy or to save.
void offerPicture(QWidget& widget, const QString& name, std::function<QString()> csv = {});

}  // namespace stepscope
