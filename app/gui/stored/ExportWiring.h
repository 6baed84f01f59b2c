// Stored sessions as files for other programs: in any format that the exporters have, or what was captured as a page to read; written on a thread of
// its own, with a Stop where it takes long. Which file it is, and of what several workers captured whose part, is asked before (ExportQuestion). GUI
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
// Whose parts of what was captured can be had: all together first. Empty where there is one alone, or it cannot be read. Any thread.
std::vector<ExportPart> exportParts(const std::string& database, std::int64_t session);

class ExportWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        SessionsPanel& sessions;
        QWidget* window;
    };
    ExportWiring(const Panels& panels, RunController& runs, RunWiring& running, std::string database, QObject* parent = nullptr);
    ~ExportWiring() override;

    // Asks where to, and of what several workers captured whose part, as soon as it is known whether there are several. word: of the format, or
    // "report"; empty: of those of captures a person chooses one.
    void ask(qint64 session, const QString& word);
    // word: as above; empty: the file's name says it. rank: of what was captured that worker's part alone.
    void write(qint64 session, const QString& path, const QString& word, qint64 rank = kAllRanks);
    QProgressDialog* dialog() const { return m_dialog; }  // while something is written

private:
    void open(qint64 session, const QString& word, const std::vector<ExportPart>& parts);
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
    BackThread m_looks, m_thread;  // last: joined first. The first looks whose parts there are, which does not wait for what is written
};

}  // namespace stepscope
