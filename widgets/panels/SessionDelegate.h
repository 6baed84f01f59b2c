// Draws one session in two lines: a dot with its state (filled live, ring stored, cross failed), the name; below, milliseconds a
// step, steps, state in words and when. GUI thread.
#pragma once
#include <QStyledItemDelegate>

namespace stepscope {

class SessionDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setReplayed(std::int64_t id) { m_replayed = id; }  // carries a mark while it is replayed
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    std::int64_t m_replayed = 0;
};

}  // namespace stepscope
