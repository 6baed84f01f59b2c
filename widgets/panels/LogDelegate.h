// Draws one line of the log: the time of day quietly, then the level in words and colour, then the sentence. GUI thread.
#pragma once
#include <QStyledItemDelegate>

namespace stepscope {

class LogDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace stepscope
