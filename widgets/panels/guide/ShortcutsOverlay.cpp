#include "widgets/panels/guide/ShortcutsOverlay.h"

#include <QApplication>
#include <QCloseEvent>
#include <QEvent>
#include <QPainter>

#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

ShortcutsOverlay::ShortcutsOverlay(std::vector<Line> lines, QWidget* parent) : QWidget(parent), m_lines(std::move(lines)) {
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_DeleteOnClose, false);
    QString spoken = "Keyboard shortcuts.";
    for (const auto& line : m_lines) spoken += " " + line.keys + ": " + line.what + ".";
    setAccessibleName(spoken);
    parent->installEventFilter(this);
    hide();
}

void ShortcutsOverlay::open() {
    setGeometry(parentWidget()->rect());
    if (QWidget* focus = QApplication::focusWidget(); focus != this) m_before = focus;
    raise();
    show();
    setFocus();
}

// Hidden, it would leave the keyboard to whatever is next in the tab order.
void ShortcutsOverlay::closeEvent(QCloseEvent* event) {
    if (m_before && hasFocus()) m_before->setFocus(Qt::OtherFocusReason);
    QWidget::closeEvent(event);
}

bool ShortcutsOverlay::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parentWidget() && event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
    return QWidget::eventFilter(watched, event);
}

int ShortcutsOverlay::keysColumn() const {
    const QFontMetrics bold(headFont(font()));
    int widest = 0;
    for (const auto& entry : m_lines) widest = qMax(widest, bold.horizontalAdvance(entry.keys));
    return qMax(150, widest + space(3));
}

void ShortcutsOverlay::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QColor veil = palette().color(QPalette::Shadow);
    veil.setAlphaF(0.45F);
    painter.fillRect(rect(), veil);

    const int line = fontMetrics().height() + 8, keysWidth = keysColumn();
    int textWidth = 0;
    for (const auto& entry : m_lines) textWidth = qMax(textWidth, fontMetrics().horizontalAdvance(entry.what));
    QRect card(0, 0, keysWidth + textWidth + space(14), line * (static_cast<int>(m_lines.size()) + 2) + space(6));
    card.moveCenter(rect().center());
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(palette().color(QPalette::Window));
    painter.drawRoundedRect(card, 6, 6);

    QRect row(card.left() + space(5), card.top() + space(3), card.width() - space(10), line);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.setFont(headFont(font()));
    painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft, "Keyboard");
    row.translate(0, line);
    for (const auto& entry : m_lines) {
        painter.setFont(headFont(font()));
        painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft, entry.keys);
        painter.setFont(font());
        painter.drawText(row.adjusted(keysWidth, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, entry.what);
        row.translate(0, line);
    }
    painter.setPen(toneColour(Tone::Muted));
    painter.drawText(row, Qt::AlignVCenter | Qt::AlignLeft, "Any key closes this.");
}

}  // namespace stepscope
