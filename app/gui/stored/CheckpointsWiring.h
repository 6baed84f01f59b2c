// The checkpoints of a stored session: read for their dialog, removed one by one, and their weights written for other programs, on a thread of its
// own. Who goes on from one or writes text with one is told. GUI thread.
#pragma once
#include <QObject>
#include <atomic>
#include <string>

#include "app/gui/process/BackThread.h"

class QWidget;

namespace stepscope {

class CheckpointsDialog;
class RunWiring;
class SessionsPanel;

class CheckpointsWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QWidget& window;
        SessionsPanel& sessions;
    };
    CheckpointsWiring(const Panels& panels, RunWiring& running, std::string database, QObject* parent = nullptr);
    ~CheckpointsWiring() override;  // an export that is being written is given up

    CheckpointsDialog& dialog() { return *m_dialog; }

Q_SIGNALS:
    void resumeRequested(qint64 session, const QString& path, qint64 step);
    void textRequested(qint64 session, const QString& path, qint64 step);
    void removed(qint64 session);  // what knew of the checkpoint looks again

private:
    void ask(qint64 session, const QString& name);
    void read(qint64 session);
    void remove(qint64 session, const QString& path);
    void write(qint64 session, const QString& path, qint64 step, const QString& folder);

    RunWiring& m_running;
    std::string m_database;
    CheckpointsDialog* m_dialog;  // the window's child
    std::atomic<bool> m_leaving{false};
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
