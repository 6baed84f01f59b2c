// The keys and the small menu: theme, guide, shortcuts, about, what a live run can be asked, quit. Single letters act only where nobody is typing.
// GUI thread.
#pragma once
#include <QObject>

#include "widgets/panels/guide/ShortcutsOverlay.h"

class QMenu;

namespace stepscope {

class CaptureWiring;
class GuidePanel;
class MainWindow;
class RunWiring;
class SessionsWiring;
class Stage;

class WindowActions : public QObject {
    Q_OBJECT
public:
    WindowActions(MainWindow& window, RunWiring& running, SessionsWiring& sessions, CaptureWiring& capture, Stage& stage, QObject* parent = nullptr);
    void openGuide(const QString& chapter = {});  // a chapter's file; empty = where it was left

Q_SIGNALS:
    void demoRequested();
    void importRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildMenu();
    void exportChosen();
    void addThemes(QMenu* menu);
    bool act(int key, const QString& text);
    bool openMenuByKey(const QEvent& event);
    void jumpToPanel(bool back);

    MainWindow& m_window;
    RunWiring& m_running;
    SessionsWiring& m_sessions;
    CaptureWiring& m_capture;
    Stage& m_stage;
    ShortcutsOverlay* m_overlay;
    bool m_altAlone = false;        // Alt is down, and nothing else was pressed since
    GuidePanel* m_guide = nullptr;  // the window's child
};

}  // namespace stepscope
