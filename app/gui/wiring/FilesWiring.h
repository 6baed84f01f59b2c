// Files of the machine that runs are trained on, where that is another one: opens its list in place of a dialog of this machine, and asks an engine
// there what lies in each folder, on a thread of its own. GUI thread.
#pragma once
#include <QObject>
#include <QPointer>
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "app/gui/process/BackThread.h"
#include "app/workbench/engine/EngineQuestions.h"
#include "widgets/panels/experiment/RecentPaths.h"

namespace stepscope {

class ExperimentPanel;
class FilesDialog;

class FilesWiring : public QObject {
    Q_OBJECT
public:
    // elsewhere: none = files are chosen here, and this does nothing.
    FilesWiring(ExperimentPanel& panel, const std::optional<EngineElsewhere>& elsewhere, QObject* parent = nullptr);
    ~FilesWiring() override;

    // With the settings that a checkpoint there was made with, or why it cannot be gone on from.
    void withCheckpoint(const std::string& folder, std::function<void(const Result<RunConfig>& config)> use);

private:
    void choose(QWidget* parent, const FilesQuestion& question, RecentPaths::Chosen chosen);
    void list(const QPointer<FilesDialog>& dialog, quint64 number, const FilesAsked& asked);

    QString m_host;
    std::atomic<std::uint64_t> m_newest = 0, m_newestCheckpoint = 0;  // question of each kind; an older one is wanted no more
    std::optional<EngineQuestions> m_engine;                          // asked by the thread alone
    BackThread m_thread;                                              // last: joined first
};

}  // namespace stepscope
