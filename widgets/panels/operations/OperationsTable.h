// The rows of a capture as a table that sorts and narrows: what OperationSummary gives, a column a figure. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <vector>

#include "core/analysis/captures/OperationSummary.h"

namespace stepscope {

class OperationsTable : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Self, Share, Calls, Layer, Role, Total, Mean, Columns };  // where room ends, what matters least is out of sight
    static constexpr int kSortRole = Qt::UserRole;

    using QAbstractTableModel::QAbstractTableModel;
    void setRows(std::vector<SummaryRow> rows, TimeNs all);  // all: of which shares are
    const SummaryRow& at(int row) const { return m_rows.at(static_cast<std::size_t>(row)); }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return Columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    double share(const SummaryRow& row) const;  // of all, in percent

    std::vector<SummaryRow> m_rows;
    TimeNs m_all;
};

// Rows that hold all the words, in their name or their place.
class OperationsOrder : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

}  // namespace stepscope
