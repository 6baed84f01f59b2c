// The rows of a query as a table: sorted by what they hold and not by their text, cells as a line of text, rows to copy. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QItemSelection>
#include <memory>
#include <vector>

#include "core/analysis/query/QueryResult.h"

namespace stepscope {

class QueryTable : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setResult(std::shared_ptr<const QueryResult> result);  // null: none
    const std::shared_ptr<const QueryResult>& result() const { return m_result; }
    const QueryValue& at(int row, int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    void sort(int column, Qt::SortOrder order) override;  // -1: as the query gave them

    // What is selected, or all, a line a row in the order in sight, cells behind tabs, below a line of titles; one cell alone is its text. `cut` says
    // whether there was more than a clipboard should hold.
    QString asText(const QItemSelection& selection, bool* cut = nullptr) const;

private:
    QString shownCell(int row, int column) const;

    std::shared_ptr<const QueryResult> m_result;
    std::vector<std::uint32_t> m_order;  // rows of the result
    std::vector<bool> m_numbers;         // of each column
    std::vector<int> m_decimals;         // of each column, of the numbers that are no whole ones; 0: as each has them
};

// A value as a line of text that obeys nothing: what turns the direction of writing, and what is no text, is a mark.
QString queryCell(const QueryValue& value);

}  // namespace stepscope
