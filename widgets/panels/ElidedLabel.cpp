#include "widgets/panels/ElidedLabel.h"

#include <QHelpEvent>
#include <QPainter>
#include <QTextLayout>
#include <QToolTip>

namespace stepscope {
namespace {
constexpr int kLeastCharacters = 6;
}

ElidedLabel::ElidedLabel(Tone tone, int lines, QWidget* parent) : ToneLabel(tone, {}, parent), m_lines(lines) {
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void ElidedLabel::setMore(const QString& more) {
    m_more = more;
}

void ElidedLabel::setLines(int lines) {
    if (lines == m_lines) return;
    m_lines = lines;
    updateGeometry();
    update();
}

QSize ElidedLabel::sizeHint() const {
    const QMargins margins = contentsMargins();
    return {fontMetrics().horizontalAdvance(text()) + 2 + margins.left() + margins.right(),
            m_lines * fontMetrics().lineSpacing() + margins.top() + margins.bottom()};
}

QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * kLeastCharacters, sizeHint().height()};
}

QStringList ElidedLabel::laidOut(bool* elided) const {
    const QRect area = contentsRect();
    const QString all = text().replace('\n', ' ');  // narrow no-break spaces stay: simplified() would make them wide
    QStringList lines;
    *elided = false;
    if (m_lines == 1) {
        lines << fontMetrics().elidedText(all, Qt::ElideRight, area.width());
        *elided = lines.front() != all;
        return lines;
    }
    QTextLayout layout(all, font());
    layout.beginLayout();
    for (int i = 0; i < m_lines; ++i) {
        QTextLine line = layout.createLine();
        if (!line.isValid()) break;
        line.setLineWidth(area.width());
        const QString rest = all.mid(line.textStart());
        const bool last = i + 1 == m_lines;
        lines << (last ? fontMetrics().elidedText(rest, Qt::ElideRight, area.width()) : rest.left(line.textLength()));
        if (last && lines.back() != rest) *elided = true;
    }
    layout.endLayout();
    return lines;
}

bool ElidedLabel::isElided() const {
    bool elided = false;
    laidOut(&elided);
    return elided;
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText));
    bool elided = false;
    QRect line = contentsRect();
    const QStringList lines = laidOut(&elided);
    const int height = fontMetrics().lineSpacing();
    // One line stands in the middle; several begin at the top.
    if (m_lines > 1) line.setHeight(height);
    for (const QString& each : lines) {
        painter.drawText(line, static_cast<int>(alignment() & Qt::AlignHorizontal_Mask) | Qt::AlignVCenter, each);
        line.translate(0, height);
    }
}

bool ElidedLabel::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !toolTip().isEmpty()) return ToneLabel::event(event);
    QStringList said;
    if (isElided()) said << text();
    if (!m_more.isEmpty()) said << m_more;
    const QString all = said.join('\n').toHtmlEscaped().replace('\n', "<br>");
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), all.isEmpty() ? QString() : "<p>" + all + "</p>", this);
    return true;
}

}  // namespace stepscope
