// The captures of a stored session: read for their dialog, and removed one by one, on a thread of its own. GUI thread.
#pragma once
#include <QObject>
#include <string>

#include "app/gui/process/BackThread.h"

class QWidget;

namespace stepscope {

class CapturesDialog;
class SessionsPanel;

class CapturesWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QWidget& window;
        SessionsPanel& sessions;
    };
    CapturesWiring(const Panels& panels, std::string database, QObject* parent = nullptr);

    CapturesDialog& dialog() { return *m_dialog; }
    void ask(qint64 session, const QString& name);

Q_SIGNALS:
    void removed(qint64 session);  // what shows captures of it is not of now

private:
    void read(qint64 session);
    void remove(qint64 session, qint64 number);

    std::string m_database;
    CapturesDialog* m_dialog;  // the window's child
    BackThread m_thread;       // last: joined first
};

}  // namespace stepscope
