// OverlayTable: a small table that lies over the page, so that nothing moves when it comes: the statistics of a selected range, the list of flips.
// Can be moved by its head, copied as text, and closed. Filled by LivePage. GUI thread.
#pragma once
#include <QFrame>
#include <QPoint>
#include <vector>

class QLabel;
class QTableWidget;

namespace stepscope {

class OverlayTable : public QFrame {
    Q_OBJECT
public:
    OverlayTable(const QString& name, QWidget* parent);

    void setTitle(const QString& title);
    void setColumns(const QStringList& columns);
    // The cells of this column are no figures but do something: a click on one, or M on its row, asks for it. An empty one does nothing.
    void setActions(int column, const QString& hint);
    void setRows(const std::vector<QStringList>& rows);
    void addRow(const QStringList& row);
    void open();  // at its place in the upper right corner, or where the person left it
    void close();
    QString text() const;  // title and table without actions, columns separated by tabs
    int rows() const;

Q_SIGNALS:
    void closed();
    void rowActivated(int row);  // by click or Enter
    void actionRequested(int row);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    bool write(int row, const QStringList& cells);  // true: something else stands there now
    void fit();
    void copy() const;
    bool hasAction(int row) const;

    QLabel* m_title;
    QWidget* m_head;
    QTableWidget* m_table;
    int m_actions = -1;  // column; -1: none
    QString m_actionHint;
    QPoint m_grabbed;      // of the head, while it is dragged
    bool m_moved = false;  // by the person
};

}  // namespace stepscope
