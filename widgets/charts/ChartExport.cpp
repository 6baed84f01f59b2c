#include "widgets/charts/ChartExport.h"

#include <QFileInfo>
#include <QMimeData>
#include <QPainter>
#include <array>
#include <charconv>
#include <cmath>

#include "widgets/charts/ChartView.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {
namespace {

constexpr double kPictureRatio = 2;

void write(std::string& text, double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9).ptr;
    text.append(digits.data(), end);
}

QByteArray svgOf(ChartView& chart) {
    return svgBytes(chart, chart.content().title(), chart.readOutText(),
                    [&chart](QPainter& painter) { chart.paintOn(painter, chart.size(), chart.palette()); });
}

}  // namespace

QImage pictureOf(ChartView& chart) {
    QImage image(chart.size() * kPictureRatio, QImage::Format_RGB32);
    image.setDevicePixelRatio(kPictureRatio);
    QPainter painter(&image);
    chart.paintOn(painter, chart.size(), chart.palette());
    return image;
}

std::unique_ptr<QMimeData> clipboardDataOf(ChartView& chart) {
    auto data = std::make_unique<QMimeData>();
    data->setImageData(pictureOf(chart));
    data->setData(QStringLiteral("image/svg+xml"), svgOf(chart));
    return data;
}

std::string valuesOf(const ChartView& chart) {
    if (chart.overlaid()) return chart.overlayCsv();
    std::string text = "step,tokens,seconds";
    if (chart.history() == nullptr) return text + "\n";
    const ValueTable table = chart.content().values(*chart.history());
    for (const QString& name : table.names) text += ',' + name.toStdString();
    text += '\n';
    const View view = chart.view();
    const bool timed = chart.history()->knowsTimes();
    if (view.axis == XAxis::WallTime && !timed) return text;
    for (std::size_t row = 0; row < table.rows; ++row) {
        const RunPlace place = table.place(row);
        if (const double x = place.on(view.axis); x < view.x.low || x > view.x.high) continue;
        text += std::to_string(std::llround(place.step)) + ',' + std::to_string(std::llround(place.tokens)) + ',';
        if (timed) write(text, place.seconds);
        for (std::size_t column = 0; column < static_cast<std::size_t>(table.names.size()); ++column) {
            text += ',';
            if (const double value = table.at(column, row); std::isfinite(value)) write(text, value);
        }
        text += '\n';
    }
    return text;
}

Result<void> saveChart(ChartView& chart, const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    QByteArray bytes;
    if (ending == QStringLiteral("png"))
        bytes = pngBytes(pictureOf(chart));
    else if (ending == QStringLiteral("svg"))
        bytes = svgOf(chart);
    else if (ending == QStringLiteral("csv"))
        bytes = QByteArray::fromStdString(valuesOf(chart));
    else
        return makeError(ErrorCode::BadInput, QStringLiteral("%1 ends in neither .png, .svg nor .csv; choose one of them.").arg(path).toStdString());
    return writePicture(path, bytes);
}

}  // namespace stepscope
