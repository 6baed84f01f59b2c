// Traces and logs of other programs come in: files dropped on the window, and those named when it was started, are imported on a thread of their own,
// with progress and a Stop, and then shown on the page Operations. GUI thread.
#pragma once
#include <QObject>
#include <QStringList>
#include <atomic>
#include <memory>

#include "app/gui/process/BackThread.h"

class QProgressDialog;
class QTabWidget;
class QWidget;

namespace stepscope {

class RunWiring;
class SessionsReader;
class SessionsWiring;

class ImportWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        QWidget& window;
        QTabWidget& pages;
        QWidget& operations;  // the page, which shows what was imported
        QWidget& timeline;    // which does so where kernels were
    };
    ImportWiring(const Panels& panels, RunWiring& running, SessionsReader& reader, SessionsWiring& sessions, QObject* parent = nullptr);
    ~ImportWiring() override;

    void choose();                          // asks which files
    void import(const QStringList& files);  // together one session; one import after the other
    bool importing() const { return m_importing > 0; }
    QProgressDialog* dialog() const { return m_dialog; }  // while something is imported

Q_SIGNALS:
    void imported(qint64 session);
    void refused(const QString& sentence);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  // the window's, for what is dropped on it

private:
    void showProgress(const QString& file);
    void stopAll();
    void ended();

    Panels m_panels;
    RunWiring& m_running;
    SessionsReader& m_reader;
    SessionsWiring& m_sessions;
    QProgressDialog* m_dialog = nullptr;  // the window's child
    int m_importing = 0;
    QString m_refusal;                                                                       // what was said of the newest one that was refused
    std::shared_ptr<std::atomic<bool>> m_stop = std::make_shared<std::atomic<bool>>(false);  // of what has not been stopped yet
    BackThread m_thread;                                                                     // last: joined first
};

}  // namespace stepscope
