// PaneTable: rows of figures in a pane: sorted by what they mean, narrowed by words, copied as CSV. What the columns are is said by who fills it; a
// cell may hold a bar of parts. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QColor>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <vector>

#include "widgets/timeline/panes/Pane.h"

class QLabel;
class QLineEdit;
class QTableView;
class QToolButton;

namespace stepscope {

class ElidedLabel;
class ToneLabel;

struct BarPart {
    double share = 0;  // of the cell's width
    QColor light, dark;
    const QColor& colour(bool onDark) const { return onDark ? dark : light; }
};

struct PaneCell {
    QString text;
    QVariant value;  // sorted by this, and written to CSV; none: by the text
    QString tip{};
    std::vector<BarPart> bar{};
    QColor light{}, dark{};  // of a swatch before the text; invalid: none
};
struct PaneColumn {
    QString title, tip;
    QString unit{};  // of `value`, for the head of CSV: "ms"
    bool words = false;
    int wide = 0;  // in letters; 0: as wide as what is in it
};

class PaneRows : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kSortRole = Qt::UserRole;
    using QAbstractTableModel::QAbstractTableModel;
    void setRows(std::vector<PaneColumn> columns, std::vector<std::vector<PaneCell>> rows);
    const PaneCell& cell(const QModelIndex& index) const;
    const std::vector<PaneColumn>& columns() const { return m_columns; }

    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
    int columnCount(const QModelIndex& = {}) const override { return static_cast<int>(m_columns.size()); }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<PaneColumn> m_columns;
    std::vector<std::vector<PaneCell>> m_rows;
};

class PaneOrder : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

class PaneTable : public QWidget {
    Q_OBJECT
public:
    // name: for who reads the screen; sorted: the column that is sorted by at first, downwards, -1: as it comes.
    PaneTable(const QString& name, int sorted, bool filtered, QWidget* parent = nullptr);

    void setRows(std::vector<PaneColumn> columns, std::vector<std::vector<PaneCell>> rows);
    // Above the rows; in their place where there is no row.
    void setSentence(const QString& sentence, const QString& more = {});
    void selectKey(const QString& text);  // the row whose first cell says so
    QString asCsv() const;                // the rows in sight, in their order; what is not known, shown as a dash, is an empty cell
    QString sentence() const;

    QTableView* table() const { return m_table; }
    QLineEdit* filter() const { return m_filter; }
    QToolButton* copyButton() const { return m_copy; }

Q_SIGNALS:
    void rowChosen(int row);  // of those that were set

private:
    PaneRows* m_rows;
    PaneOrder* m_order;
    QTableView* m_table;
    QLineEdit* m_filter = nullptr;
    QToolButton* m_copy;
    ElidedLabel* m_head;
    ToneLabel* m_empty;
    int m_sorted;
    bool m_filled = false;
    std::vector<int> m_widths;  // that the columns were given here; -1: none yet
};

}  // namespace stepscope
