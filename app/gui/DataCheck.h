// DataCheck: says before a run is started that a chosen file cannot be read as text. Asked with every edit, looks into a file once.
// Called by ExperimentWiring on its own thread.
#pragma once
#include <QDateTime>
#include <QString>
#include <functional>
#include <optional>
#include <string>

namespace stepscope {

class DataCheck {
public:
    // A sentence when `data` is a file of text that is not UTF-8, else empty. Folders, packed texts, .jsonl and tokens are left to the run.
    // Nothing when `wanted` says no in between.
    std::optional<QString> problemOf(const std::string& data, const std::function<bool()>& wanted);

private:
    QString m_path, m_problem;  // of the file looked into last
    qint64 m_size = -1;
    QDateTime m_changed;
};

}  // namespace stepscope
