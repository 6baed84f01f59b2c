// The entries of one folder as rows: name, kind, size. Filled by FilesDialog. GUI thread.
#pragma once
#include <QAbstractTableModel>

#include "widgets/panels/files/FilesTypes.h"

namespace stepscope {

class FilesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Kind, Size, kColumns };

    using QAbstractTableModel::QAbstractTableModel;
    void setEntries(std::vector<FilesEntry> entries);
    const FilesEntry* at(int row) const;   // null: there is none
    int rowOf(const QString& name) const;  // -1: it is not there

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<FilesEntry> m_entries;
};

}  // namespace stepscope
