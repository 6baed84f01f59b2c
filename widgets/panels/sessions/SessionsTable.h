// The stored sessions as a table of numbers that sorts: what SessionsModel lists, a column a figure. GUI thread.
#pragma once
#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "widgets/panels/sessions/SessionRow.h"

namespace stepscope {

class SessionsModel;

class SessionsTable : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Number, Name, State, Started, Steps, Loss, Validation, StepTime, Rate, Tags, Columns };
    static constexpr int kSortRole = Qt::UserRole;

    explicit SessionsTable(SessionsModel& sessions, QObject* parent = nullptr);
    const SessionRow& at(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& = {}) const override { return Columns; }
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    SessionsModel& m_sessions;
};

// Unknown figures stand last, whichever way it is sorted; words narrow it as they do the list.
class SessionsOrder : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& text);
    // The rows that are seen, in their order, as CSV with a line of names.
    QString csv() const;

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

}  // namespace stepscope
