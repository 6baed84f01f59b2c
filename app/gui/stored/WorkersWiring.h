// What the workers of a stored session took: read for their dialog on a thread of its own. GUI thread.
#pragma once
#include <QObject>
#include <string>

#include "app/gui/process/BackThread.h"

class QWidget;

namespace stepscope {

class SessionsPanel;
class WorkersDialog;

class WorkersWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QWidget& window;
        SessionsPanel& sessions;
    };
    WorkersWiring(const Panels& panels, std::string database, QObject* parent = nullptr);

    WorkersDialog& dialog() { return *m_dialog; }

private:
    void ask(qint64 session, const QString& name);

    std::string m_database;
    WorkersDialog* m_dialog;  // the window's child
    BackThread m_thread;      // last: joined first
};

}  // namespace stepscope
