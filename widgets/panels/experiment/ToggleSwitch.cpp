// No animation: nothing in the window moves unless data moves.
#include "widgets/panels/experiment/ToggleSwitch.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>

namespace stepscope {
namespace {
constexpr int kPad = 7, kLeastPad = 3, kEdge = 1;  // beside a word, as it should be and at least; of the frame
constexpr double kRound = 4;
}  // namespace

ToggleSwitch::ToggleSwitch(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void ToggleSwitch::setWords(const QString& left, const QString& right) {
    m_left = left;
    m_right = right;
    updateGeometry();
    update();
}

QSize ToggleSwitch::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(m_left) + metrics.horizontalAdvance(m_right) + 4 * kPad + 2 * kEdge, metrics.height() + 6};
}

// The words share the width by their own lengths; what is missing each lacks by its share.
QRect ToggleSwitch::placeOf(const QString& word) const {
    const QFontMetrics metrics(font());
    const int left = metrics.horizontalAdvance(m_left), right = metrics.horizontalAdvance(m_right);
    const int room = width() - 2 * kEdge, spare = room - left - right;
    const int ofFirst = spare >= 4 * kLeastPad ? left + spare / 2 : room * (left + 2 * kLeastPad) / std::max(1, left + right + 4 * kLeastPad);
    const QRect first(kEdge, kEdge, ofFirst, height() - 2 * kEdge);
    return word == m_left ? first : QRect(first.right() + 1, kEdge, width() - first.right() - 1 - kEdge, first.height());
}

QString ToggleSwitch::shownWord(const QString& word) const {
    return QFontMetrics(font()).elidedText(word, Qt::ElideRight, placeOf(word).width() - 2 * kLeastPad);
}

bool ToggleSwitch::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !toolTip().isEmpty() || (shownWord(m_left) == m_left && shownWord(m_right) == m_right))
        return QAbstractButton::event(event);
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), QString("%1 or %2").arg(m_left, m_right), this);
    return true;
}

void ToggleSwitch::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QPalette::ColorGroup group = isEnabled() ? QPalette::Active : QPalette::Disabled;
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(QPen(palette().color(hasFocus() ? QPalette::WindowText : QPalette::Mid), 1));
    painter.setBrush(palette().color(group, QPalette::Base));
    painter.drawRoundedRect(frame, kRound, kRound);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(group, QPalette::Highlight));
    painter.drawRoundedRect(QRectF(placeOf(word())), kRound - 1, kRound - 1);
    for (const QString& each : {m_left, m_right}) {
        painter.setPen(palette().color(group, each == word() ? QPalette::HighlightedText : QPalette::PlaceholderText));
        painter.drawText(placeOf(each), Qt::AlignCenter, shownWord(each));
    }
}

}  // namespace stepscope
