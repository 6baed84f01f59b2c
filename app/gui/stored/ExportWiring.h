// Stored sessions as files for other programs: in any format that the exporters have, or what was captured as a page to read; written on a thread of
// its own, with a Stop where it takes long. Which file it is, and whether one that is there is written over, is asked by the panels' dialogs. GUI
// thread.
#pragma once
#include <QObject>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/process/BackThread.h"
#include "widgets/panels/sessions/ExportChoice.h"

class QProgressDialog;
class QWidget;

namespace stepscope {

class RunController;
class RunWiring;
class SessionsPanel;

// All of them, or those of captures alone; the report is the last.
std::vector<ExportChoice> exportChoices(bool capturesOnly = false);

class ExportWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        SessionsPanel& sessions;
        QWidget* window;
    };
    ExportWiring(const Panels& panels, RunController& runs, RunWiring& running, std::string database, QObject* parent = nullptr);
    ~ExportWiring() override;

    // word: of the format, or "report"; empty: the file's name says it.
    void write(qint64 session, const QString& path, const QString& word);
    QProgressDialog* dialog() const { return m_dialog; }  // while something is written

private:
    void showProgress(const QString& file, qint64 bytes);
    void stopAll();
    void ended();

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    std::string m_database;
    QProgressDialog* m_dialog = nullptr;  // the window's child
    int m_writing = 0;
    std::shared_ptr<std::atomic<bool>> m_stop = std::make_shared<std::atomic<bool>>(false);  // of what has not been stopped yet
    BackThread m_thread;                                                                     // last: joined first
};

}  // namespace stepscope
