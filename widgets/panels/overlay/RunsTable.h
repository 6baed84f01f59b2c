// RunsTable: the runs that lie over each other, one row each: its colour and whether it is shown, the keys that differ, its figures. Sorts by any
// column; which columns there are is the person's choice. It is the legend of the charts above. GUI thread.
#pragma once
#include <QSet>
#include <QTableWidget>

class QMenu;

namespace stepscope {

class RunsOverlay;

class RunsTable : public QTableWidget {
    Q_OBJECT
public:
    explicit RunsTable(QWidget* parent = nullptr);

    void show(const RunsOverlay& overlay);  // fills it; what was chosen stays chosen
    int heightFor(std::size_t runs) const;  // to see all of them
    QStringList shownColumns() const;       // titles, from left to right
    std::int64_t session(int row) const;    // 0 = there is no such row
    std::unique_ptr<QMenu> columnsMenu();

Q_SIGNALS:
    void hideWanted(qint64 session, bool hidden);
    void chosen(qint64 session);  // 0 = none
    void replayRequested(qint64 session);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void showColumns();
    void paintSwatches();
    void toggle(int row);
    int rowOf(std::int64_t wanted) const;  // -1 = that session has none

    QSet<QString> m_left;  // titles of columns that the person took away
    bool m_filling = false;
    QString m_keys;  // titles, joined: columns are made anew where they change
};

}  // namespace stepscope
