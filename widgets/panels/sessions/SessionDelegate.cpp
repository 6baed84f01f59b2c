#include "widgets/panels/sessions/SessionDelegate.h"

#include <QApplication>
#include <QPainter>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kRowPad = 6, kDot = 9, kGap = 8;

Tone toneOf(RunState state) {
    switch (state) {
        case RunState::Preparing:
        case RunState::Running:
            return Tone::Good;
        case RunState::Paused:
        case RunState::Interrupted:
            return Tone::Warning;
        case RunState::Failed:
            return Tone::Error;
        case RunState::Finished:
        case RunState::Stopped:
            return Tone::Muted;
    }
    return Tone::Muted;
}

// Shape as well as colour: filled = going on, ring = ended, cross = failed, half = interrupted or paused.
void drawDot(QPainter* painter, const QRectF& area, RunState state) {
    const QColor colour = toneColour(toneOf(state));
    painter->setPen(QPen(colour, 1.6));
    painter->setBrush(Qt::NoBrush);
    if (state == RunState::Failed) {
        painter->drawLine(area.topLeft(), area.bottomRight());
        painter->drawLine(area.topRight(), area.bottomLeft());
        return;
    }
    if (state == RunState::Running || state == RunState::Preparing) painter->setBrush(colour);
    painter->drawEllipse(area);
    if (state == RunState::Paused || state == RunState::Interrupted) {
        painter->setBrush(colour);
        painter->drawPie(area, 90 * 16, 180 * 16);
    }
}

// In the colour of its line in the charts; on a selected row with a rim, so that every colour is seen on it.
void drawPatch(QPainter* painter, const QRectF& area, std::size_t colour, const QPalette& palette, bool selected) {
    painter->setPen(selected ? QPen(palette.color(QPalette::HighlightedText), 1.6) : QPen(Qt::NoPen));
    painter->setBrush(overlayColour(colour, isDark(palette)));
    painter->drawRoundedRect(area, 2, 2);
}

QString when(const SessionRow& row) {
    if (row.here && !ended(row.state)) return "live";
    return relativeTime(QDateTime::fromMSecsSinceEpoch(row.startedUnixMs), QDateTime::currentDateTime());
}

// Two digits where there is no room for three: "66 ms".
QString roughTime(double ms) {
    return ms >= 10 && ms < 999.5 ? QString("%1\u202Fms").arg(ms, 0, 'f', 0) : words(format::milliseconds(ms));
}

}  // namespace

QString SessionDelegate::figures(const SessionRow& row, const QFontMetrics& metrics, int room) {
    if (row.kind != SessionKind::Run) return metrics.elidedText(toString(row.kind), Qt::ElideRight, room);
    const QString steps = row.steps == 0 ? QString("no steps") : words(format::count(row.steps)) + (row.steps == 1 ? " step" : " steps");
    const QString fewDigits = row.steps < 1000 ? steps : words(format::rate(static_cast<double>(row.steps), "steps"));
    QStringList all;
    if (std::isfinite(row.msPerStep)) {
        const QString rough = roughTime(row.msPerStep);
        all << words(format::milliseconds(row.msPerStep)) + "  " + steps << rough + "  " + steps << rough + "  " + fewDigits;
    }
    all << steps << fewDigits;
    for (const QString& text : all)
        if (metrics.horizontalAdvance(text) <= room) return text;
    return metrics.elidedText(all.last(), Qt::ElideRight, room);
}

void SessionDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const auto& row = *static_cast<const SessionRow*>(index.data(SessionsModel::RowRole).value<const void*>());
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    QStyleOptionViewItem plain = option;
    plain.text.clear();
    QApplication::style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &plain, painter, option.widget);

    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const QColor ink = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    const QColor faint = selected ? ink : toneColour(Tone::Muted);
    const int line = option.fontMetrics.height();
    const QRect area = option.rect.adjusted(kRowPad, kRowPad - 2, -kRowPad, -kRowPad + 2);
    const int left = area.left() + kDot + 7;

    const auto overlaid = m_overlaid.find(row.id);
    if (overlaid != m_overlaid.end())
        drawPatch(painter, QRectF(area.left(), area.top() + (line - kDot) / 2.0, kDot, kDot), overlaid->second, option.palette, selected);
    else if (!selected)
        drawDot(painter, QRectF(area.left(), area.top() + (line - kDot) / 2.0, kDot, kDot), row.state);
    else {
        painter->setPen(QPen(ink, 1.6));
        painter->setBrush(ended(row.state) ? QBrush(Qt::NoBrush) : QBrush(ink));
        painter->drawEllipse(QRectF(area.left(), area.top() + (line - kDot) / 2.0, kDot, kDot));
    }

    const QString time = when(row);
    const int timeWidth = option.fontMetrics.horizontalAdvance(time);
    QFont name = option.font;
    name.setBold(row.here || row.id == m_replayed);
    painter->setFont(name);
    painter->setPen(ink);
    const QRect top(left, area.top(), area.right() - left - timeWidth - 8, line);
    painter->drawText(top, Qt::AlignLeft | Qt::AlignVCenter, QFontMetrics(name).elidedText(row.name, Qt::ElideRight, top.width()));
    painter->setFont(option.font);
    painter->setPen(row.here && !ended(row.state) && !selected ? toneColour(Tone::Good) : faint);
    painter->drawText(QRect(left, area.top(), area.right() - left, line), Qt::AlignRight | Qt::AlignVCenter, time);

    const QString state = row.id == m_replayed ? QString("replayed") : QString(toString(row.state));
    const int stateWidth = option.fontMetrics.horizontalAdvance(state);
    const QRect bottom(left, area.top() + line + 2, area.right() - left, line);
    painter->setPen(faint);
    painter->drawText(bottom, Qt::AlignLeft | Qt::AlignVCenter, figures(row, option.fontMetrics, bottom.width() - stateWidth - kGap));
    painter->setPen(selected ? ink : toneColour(toneOf(row.state)));
    painter->drawText(bottom, Qt::AlignRight | Qt::AlignVCenter, state);
    painter->restore();
}

QSize SessionDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {160, option.fontMetrics.height() * 2 + 2 + 2 * kRowPad - 4 + 4};
}

}  // namespace stepscope
