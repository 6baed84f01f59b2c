#include "widgets/panels/files/FilesModel.h"

#include <algorithm>
#include <utility>

#include "core/base/Format.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QString kindOf(const FilesEntry& entry) {
    if (entry.folder) return "folder";
    const auto dot = entry.name.lastIndexOf('.');
    return dot > 0 && dot + 1 < entry.name.size() ? entry.name.mid(dot + 1).toLower() + " file" : QString("file");
}

}  // namespace

void FilesModel::setEntries(std::vector<FilesEntry> entries) {
    beginResetModel();
    m_entries = std::move(entries);
    endResetModel();
}

const FilesEntry* FilesModel::at(int row) const {
    return row < 0 || row >= rowCount() ? nullptr : &m_entries[static_cast<std::size_t>(row)];
}

int FilesModel::rowOf(const QString& name) const {
    const auto found = std::ranges::find(m_entries, name, &FilesEntry::name);
    return found == m_entries.end() ? -1 : static_cast<int>(found - m_entries.begin());
}

int FilesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int FilesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(kColumns);
}

QVariant FilesModel::data(const QModelIndex& index, int role) const {
    const FilesEntry* entry = at(index.row());
    if (entry == nullptr) return {};
    const int column = index.column();
    if (role == Qt::DisplayRole)
        return column == Name   ? entry->name
               : column == Kind ? kindOf(*entry)
                                : (entry->folder ? QString() : QString::fromStdString(format::bytes({entry->bytes})));
    if (role == Qt::DecorationRole && column == Name) return lineIcon(entry->folder ? "folder" : "file");
    if (role == Qt::ToolTipRole && column == Name) return plainTip(entry->name);
    if (role == Qt::TextAlignmentRole && column == Size) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant FilesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return QVariant((section == Size ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    return section == Name ? "name" : section == Kind ? "kind" : "size";
}

}  // namespace stepscope
