#include "widgets/panels/LogDelegate.h"

#include <QApplication>
#include <QPainter>

#include "widgets/panels/LogModel.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

void LogDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    painter->save();
    QStyleOptionViewItem plain = option;
    QApplication::style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &plain, painter, option.widget);
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const QColor ink = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    const auto level = static_cast<LogLevel>(index.data(LogModel::LevelRole).toInt());
    const Tone tone = level == LogLevel::Error ? Tone::Error : level == LogLevel::Warning ? Tone::Warning : Tone::Normal;

    QRect area = option.rect.adjusted(space(2), 0, -space(2), 0);
    const QString time = index.data(LogModel::TimeRole).toDateTime().toString("HH:mm:ss");
    painter->setFont(option.font);
    painter->setPen(selected ? ink : toneColour(Tone::Muted));
    painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter, time);
    area.setLeft(area.left() + option.fontMetrics.horizontalAdvance(time) + space(3));
    painter->setPen(selected || tone == Tone::Normal ? ink : toneColour(tone));
    const QString text = index.data(LogModel::SentenceRole).toString();
    painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter, option.fontMetrics.elidedText(text, Qt::ElideRight, area.width()));
    painter->restore();
}

QSize LogDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    return {200, option.fontMetrics.height() + 3};
}

}  // namespace stepscope
