#include "widgets/panels/LogModel.h"

#include <algorithm>

#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

const char* word(LogLevel level) {
    switch (level) {
        case LogLevel::Info:
            return "";
        case LogLevel::Warning:
            return "Warning";
        case LogLevel::Error:
            return "Error";
    }
    return "";
}

}  // namespace

void LogModel::add(std::vector<LogEntry> entries) {
    if (entries.empty()) return;
    const auto surplus = static_cast<int>(m_entries.size() + entries.size()) - kMost;
    if (surplus > 0) {
        const int drop = std::min(surplus, rowCount());
        if (drop > 0) {
            beginRemoveRows({}, 0, drop - 1);
            m_entries.erase(m_entries.begin(), m_entries.begin() + drop);
            endRemoveRows();
        }
        if (surplus > drop) entries.erase(entries.begin(), entries.begin() + (surplus - drop));
    }
    beginInsertRows({}, rowCount(), rowCount() + static_cast<int>(entries.size()) - 1);
    m_entries.insert(m_entries.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
    endInsertRows();
}

void LogModel::clear() {
    beginResetModel();
    m_entries.clear();
    endResetModel();
}

void LogModel::forgetSteps() {
    for (auto& entry : m_entries) entry.step = 0;
}

void LogModel::rewind(TimeNs to) {
    const auto isLater = [to](const LogEntry& entry) { return entry.at > to; };
    if (std::ranges::none_of(m_entries, isLater)) return;
    beginResetModel();
    std::erase_if(m_entries, isLater);
    endResetModel();
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const LogEntry& entry = m_entries[static_cast<std::size_t>(index.row())];
    const QString level = word(entry.level);
    switch (role) {
        case SentenceRole:
            return (level.isEmpty() ? QString() : level + ": ") + entry.text;
        case Qt::DisplayRole:
            return entry.when.toString("HH:mm:ss") + " " + data(index, SentenceRole).toString();
        case Qt::ToolTipRole:
            return plainTip(entry.text + "\n" + absoluteTime(entry.when) +
                            (entry.step > 0 ? QString("\nClick to go to step %1").arg(entry.step) : QString()));
        case StepRole:
            return static_cast<qlonglong>(entry.step);
        case LevelRole:
            return static_cast<int>(entry.level);
        case TimeRole:
            return entry.when;
        default:
            return {};
    }
}

}  // namespace stepscope
