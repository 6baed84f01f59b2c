// The log's lines: a time of day, a level, a sentence, and the step it belongs to. Holds the newest 5000. GUI thread.
#pragma once
#include <QAbstractListModel>
#include <QDateTime>
#include <deque>

#include "core/events/RunEvents.h"

namespace stepscope {

struct LogEntry {
    QDateTime when;
    LogLevel level = LogLevel::Info;
    QString text;
    std::int64_t step = 0;  // 0 = nowhere to jump to
    TimeNs at{-1};          // in its session; before its beginning = the window's own line
};

class LogModel : public QAbstractListModel {
    Q_OBJECT
public:
    static constexpr int kMost = 5000;
    enum Role { StepRole = Qt::UserRole, LevelRole, TimeRole, SentenceRole };
    using QAbstractListModel::QAbstractListModel;

    void add(std::vector<LogEntry> entries);
    void clear();
    void forgetSteps();      // another session began: older lines lead nowhere
    void rewind(TimeNs to);  // lines of the session that are later go

    int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_entries.size()); }
    QVariant data(const QModelIndex& index, int role) const override;

private:
    std::deque<LogEntry> m_entries;
};

}  // namespace stepscope
