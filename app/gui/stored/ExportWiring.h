// Stored sessions as files for other programs: in any format that the exporters have, written on a thread of its own. Which file it is, and whether
// one that is there is written over, is asked by the panels' dialogs. GUI thread.
#pragma once
#include <QObject>
#include <string>
#include <vector>

#include "app/gui/process/BackThread.h"
#include "widgets/panels/sessions/ExportChoice.h"

namespace stepscope {

class RunWiring;
class SessionsPanel;

// All of them, or those of captures alone.
std::vector<ExportChoice> exportChoices(bool capturesOnly = false);

class ExportWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        SessionsPanel& sessions;
    };
    ExportWiring(const Panels& panels, RunWiring& running, std::string database, QObject* parent = nullptr);

    void write(qint64 session, const QString& path, const QString& word);

private:
    RunWiring& m_running;
    std::string m_database;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
