#include "widgets/panels/experiment/SchedulePreview.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "core/base/Format.h"
#include "core/events/Schedule.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/WidgetPicture.h"

namespace stepscope {

SchedulePreview::SchedulePreview(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName("Learning rate over the run");
    offerPicture(*this, "learning-rate", [this] { return asCsv(); });
}

void SchedulePreview::setConfig(const RunConfig& config) {
    m_config = config;
    setToolTip(
        QString("Learning rate: %1, at most %2, over %3 steps")
            .arg(QString::fromStdString(config.schedule), QString::number(config.lr, 'g', 3), QString::fromStdString(format::count(config.steps))));
    update();
}

QString SchedulePreview::asCsv() const {
    constexpr std::int64_t kMostRows = 1000;
    CsvText csv({"Step", "Learning rate"});
    const std::int64_t rows = std::clamp<std::int64_t>(m_config.steps, 0, kMostRows);
    for (std::int64_t row = 0; row < rows; ++row) {
        const double share = rows > 1 ? static_cast<double>(row) / static_cast<double>(rows - 1) : 0;
        const auto step = 1 + static_cast<std::int64_t>(share * static_cast<double>(m_config.steps - 1));
        csv.row({QString::number(step), csvNumber(learningRate(m_config, step))});
    }
    return csv.text();
}

void SchedulePreview::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QFontMetrics metrics(font());
    const QRectF plot = QRectF(rect()).adjusted(10, 4, -4, -metrics.height() - 2);
    if (plot.width() < 20 || m_config.steps < 1) return;

    const int points = static_cast<int>(plot.width());
    double highest = m_config.lr;
    if (highest <= 0) highest = 1;
    QPainterPath curve;
    for (int i = 0; i <= points; ++i) {
        const double share = static_cast<double>(i) / points;
        const auto step = 1 + static_cast<std::int64_t>(share * static_cast<double>(m_config.steps - 1));
        const double y = plot.bottom() - plot.height() * std::clamp(learningRate(m_config, step) / highest, 0.0, 1.0);
        const QPointF at(plot.left() + i, y);
        i == 0 ? curve.moveTo(at) : curve.lineTo(at);
    }
    QColor base = palette().color(QPalette::PlaceholderText);
    base.setAlphaF(0.5F);
    painter.setPen(QPen(base, 1));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5));
    painter.drawPath(curve);

    painter.setPen(palette().color(QPalette::PlaceholderText));
    const QRectF under(plot.left(), plot.bottom() + 2, plot.width(), metrics.height());
    painter.drawText(under, Qt::AlignLeft, "1");
    painter.drawText(under, Qt::AlignRight, QString::fromStdString(format::count(m_config.steps)));
    painter.drawText(under, Qt::AlignHCenter, "steps");
}

}  // namespace stepscope
