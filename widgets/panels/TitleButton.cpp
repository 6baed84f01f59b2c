#include "widgets/panels/TitleButton.h"

#include <QPainter>
#include <QStyle>
#include <QStyleOptionFocusRect>
#include <algorithm>

namespace stepscope {
namespace {
constexpr int kLeastName = 48, kLeastLink = 80;
}

TitleButton::TitleButton(const QString& text, QWidget* parent) : QAbstractButton(parent) {
    setText(text);
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void TitleButton::setBold(bool bold) {
    QFont wanted = font();
    if (wanted.bold() == bold) return;
    wanted.setBold(bold);
    setFont(wanted);
    updateGeometry();
}

void TitleButton::setLink(bool link) {
    m_link = link;
    updateGeometry();
    update();
}

// A name has room for bold at any time, so that nothing beside it moves when it becomes bold.
QSize TitleButton::sizeHint() const {
    QFont widest = font();
    if (!m_link) widest.setBold(true);
    return {(icon().isNull() ? QFontMetrics(widest).horizontalAdvance(text()) : iconSize().width()) + 8, fontMetrics().height() + 6};
}

QSize TitleButton::minimumSizeHint() const {
    const QSize whole = sizeHint();
    return {icon().isNull() ? std::min(whole.width(), m_link ? kLeastLink : kLeastName) : whole.width(), whole.height()};
}

void TitleButton::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (icon().isNull()) {
        QFont drawn = font();
        drawn.setUnderline(underMouse() && isEnabled());
        painter.setFont(drawn);
        painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, m_link ? QPalette::Link : QPalette::WindowText));
        const QRect area = rect().adjusted(2, 0, -2, 0);
        painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(drawn).elidedText(text(), Qt::ElideRight, area.width()));
    } else {
        QRect square(QPoint(0, 0), iconSize());
        square.moveCenter(rect().center());
        icon().paint(&painter, square, Qt::AlignCenter, isEnabled() ? QIcon::Normal : QIcon::Disabled);
        if (underMouse() && isEnabled())
            painter.fillRect(QRect(square.left(), square.bottom() + 1, square.width(), 1), palette().color(QPalette::Link));
    }
    if (hasFocus()) {
        QStyleOptionFocusRect option;
        option.initFrom(this);
        option.rect = rect().adjusted(0, 1, 0, -1);
        style()->drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter, this);
    }
}

}  // namespace stepscope
