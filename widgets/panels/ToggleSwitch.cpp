// See ToggleSwitch.h. No animation: nothing in the window moves unless data moves.
#include "widgets/panels/ToggleSwitch.h"

#include <QFontMetrics>
#include <QPainter>

namespace stepscope {
namespace {
constexpr int kTrackWidth = 30, kTrackHeight = 16, kGap = 6;
}

ToggleSwitch::ToggleSwitch(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void ToggleSwitch::setWords(const QString& whenOff, const QString& whenOn) {
    m_off = whenOff;
    m_on = whenOn;
    updateGeometry();
    update();
}

QSize ToggleSwitch::sizeHint() const {
    const QFontMetrics metrics(font());
    const int words = qMax(metrics.horizontalAdvance(m_off), metrics.horizontalAdvance(m_on));
    return {words + kGap + kTrackWidth + 4, qMax(metrics.height() + 4, kTrackHeight + 6)};
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QPalette::ColorGroup group = isEnabled() ? QPalette::Active : QPalette::Disabled;
    const QRectF track(width() - kTrackWidth - 2, (height() - kTrackHeight) / 2.0, kTrackWidth, kTrackHeight);

    QColor edge = palette().color(group, QPalette::WindowText);
    edge.setAlphaF(isEnabled() ? 0.55F : 0.25F);
    const bool filled = isChecked();
    painter.setPen(QPen(filled && isEnabled() ? palette().color(group, QPalette::Highlight) : edge, 1.2));
    painter.setBrush(filled ? (isEnabled() ? palette().color(group, QPalette::Highlight) : edge) : Qt::transparent);
    painter.drawRoundedRect(track, kTrackHeight / 2.0, kTrackHeight / 2.0);

    const double radius = kTrackHeight / 2.0 - 3.4;
    const QPointF centre(filled ? track.right() - kTrackHeight / 2.0 : track.left() + kTrackHeight / 2.0, track.center().y());
    painter.setPen(Qt::NoPen);
    painter.setBrush(filled ? palette().color(group, QPalette::HighlightedText) : edge);
    painter.drawEllipse(centre, radius, radius);

    painter.setPen(palette().color(group, QPalette::WindowText));
    painter.drawText(QRectF(0, 0, track.left() - kGap, height()), Qt::AlignRight | Qt::AlignVCenter, word());

    if (hasFocus()) {
        QColor ring = palette().color(QPalette::Highlight);
        painter.setPen(QPen(ring, 1.4));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(track.adjusted(-2, -2, 2, 2), kTrackHeight / 2.0 + 2, kTrackHeight / 2.0 + 2);
    }
}

}  // namespace stepscope
