#include "widgets/panels/ElidedLabel.h"

#include <QHelpEvent>
#include <QPainter>
#include <QTextLayout>
#include <QToolTip>
#include <utility>

#include "widgets/style/Theme.h"

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

void ElidedLabel::setTints(std::vector<Tint> tints) {
    m_tints = std::move(tints);
    update();
}

QColor ElidedLabel::inkAt(qsizetype character) const {
    if (isEnabled())
        for (const Tint& tint : m_tints)
            if (character >= tint.from && character < tint.from + tint.length) return seriesColour(tint.role, isDark(palette()));
    return palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText);
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
    bool elided = false;
    QRect line = contentsRect();
    const QStringList lines = laidOut(&elided);
    const int height = fontMetrics().lineSpacing();
    // One line stands in the middle; several begin at the top.
    if (m_lines > 1) line.setHeight(height);
    qsizetype from = 0;  // of the text: a line begins where the one before ended
    for (const QString& each : lines) {
        drawLine(painter, line, each, from);
        line.translate(0, height);
        from += each.size();
    }
}

void ElidedLabel::drawLine(QPainter& painter, const QRect& place, const QString& line, qsizetype from) const {
    if (m_tints.empty()) {
        painter.setPen(inkAt(0));
        painter.drawText(place, static_cast<int>(alignment() & Qt::AlignHorizontal_Mask) | Qt::AlignVCenter, line);
        return;
    }
    for (qsizetype at = 0; at < line.size();) {
        const QColor ink = inkAt(from + at);
        qsizetype end = at + 1;
        while (end < line.size() && inkAt(from + end) == ink) ++end;
        painter.setPen(ink);
        painter.drawText(place.adjusted(fontMetrics().horizontalAdvance(line.left(at)), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         line.mid(at, end - at));
        at = end;
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
