// The list of sessions: newest first, this window's live run on top. setRows() changes only what differs, so that selection and
// scrolling survive a refresh. SessionsFilter narrows it as one types: name, tag, state, a switch or its value. GUI thread.
#pragma once
#include <QAbstractListModel>
#include <QSortFilterProxyModel>

#include "widgets/panels/sessions/SessionRow.h"

namespace stepscope {

class SessionsModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { IdRole = Qt::UserRole, StateRole, RowRole };
    using QAbstractListModel::QAbstractListModel;

    void setRows(std::vector<SessionRow> rows);
    // The newest figures of the live run, between two readings of the database.
    void setLive(std::int64_t id, RunState state, std::int64_t steps, double msPerStep, double loss);
    const SessionRow* find(std::int64_t id) const;
    const SessionRow& at(int row) const { return m_rows[static_cast<std::size_t>(row)]; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<SessionRow> m_rows;
};

// All of the words are found somewhere: in its name, its note, a tag, its state, a setting as key=value.
bool holdsWords(const SessionRow& session, const QStringList& words);

class SessionsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setWords(const QString& text);  // all of the words must be found somewhere

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

}  // namespace stepscope
