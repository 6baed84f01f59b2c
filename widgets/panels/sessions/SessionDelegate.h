// Draws one session in two lines: a dot with its state (filled live, ring stored, cross failed), the name; below, milliseconds a
// step, steps, state in words and when. GUI thread.
#pragma once
#include <QFontMetrics>
#include <QStyledItemDelegate>
#include <cstdint>
#include <map>

namespace stepscope {

struct SessionRow;

class SessionDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void setReplayed(std::int64_t id) { m_replayed = id; }  // carries a mark while it is replayed
    // Laid over each other in the charts: a short piece of its line instead of the dot. By session, its place among them.
    void setOverlaid(std::map<std::int64_t, std::size_t> colours) { m_overlaid = std::move(colours); }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    // "65.6 ms  1 909 steps", as much of it as `room` has: decimals go first, then digits of the steps, then the time of a step. Whole always
    // and on the tool tip.
    static QString figures(const SessionRow& row, const QFontMetrics& metrics, int room);
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    std::int64_t m_replayed = 0;
    std::map<std::int64_t, std::size_t> m_overlaid;
};

}  // namespace stepscope
