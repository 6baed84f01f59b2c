#include "app/gui/WindowActions.h"

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QActionGroup>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTabBar>
#include <QTabWidget>
#include <algorithm>

#include "app/gui/MainWindow.h"
#include "app/gui/Stage.h"
#include "app/gui/captured/CaptureWiring.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsWiring.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/guide/GuidePanel.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/RunBar.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {

std::vector<ShortcutsOverlay::Line> shortcutLines() {
    return {
        {"Space", "run, pause, go on"},
        {"Ctrl+.", "stop and keep the session"},
        {"Ctrl+S", "save a checkpoint of the run"},
        {"Ctrl+Shift+V", "validate now"},
        {"Ctrl+Shift+C", "capture what runs in some steps"},
        {"Ctrl+Shift+R", "draw other batches: the next seed"},
        {"1 … 9, 0", "page Live, Text, Sessions, Compare, Ladder, Diagnose, Operations, Timeline, Query, Inference"},
        {"F", "fit the charts to the whole run"},
        {"Wheel, drag", "zoom and pan the charts; double click fits"},
        {"Enter, L", "on a chart: it alone; logarithmic y"},
        {"[  ]", "statistics of the steps between"},
        {"Ctrl+B", "fold the left panel away; with Shift the right one"},
        {"/", "search the sessions"},
        {"Enter, F2, Delete, C", "in the list: replay, rename, delete, details or what differs"},
        {"O", "in the list: lay the chosen sessions over each other"},
        {"T", "in the list: timelines of two chosen sessions side by side"},
        {"E", "export the chosen session as CSV"},
        {"Ctrl+Return", "generate text; on the page Query run the query"},
        {"Esc", "end a query, close a replay, clear the search, leave a field of the page Text, Query or Inference"},
        {"Ctrl+O", "import traces, logs or sessions"},
        {"F6, Shift+F6", "the next panel, the one before"},
        {"F10, Alt", "the menu"},
        {"F1", "the guide"},
        {"?", "this list"},
        {"Ctrl+Q", "quit; a run is stopped first and kept"},
    };
}

bool takesText(const QWidget* widget) {
    const auto* text = qobject_cast<const QPlainTextEdit*>(widget);
    return qobject_cast<const QLineEdit*>(widget) != nullptr || qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
           (text != nullptr && !text->isReadOnly());
}

bool takesSpace(const QWidget* widget) {
    return qobject_cast<const QAbstractButton*>(widget) != nullptr || qobject_cast<const QComboBox*>(widget) != nullptr;
}

// The first part of a panel that takes the keyboard now.
QWidget* firstStop(QWidget& panel) {
    for (QWidget* next = panel.nextInFocusChain(); next != &panel; next = next->nextInFocusChain())
        if (panel.isAncestorOf(next) && next->isVisibleTo(panel.window()) && next->isEnabled() && (next->focusPolicy() & Qt::TabFocus) != 0)
            return next;
    return nullptr;
}

}  // namespace

WindowActions::WindowActions(MainWindow& window, RunWiring& running, SessionsWiring& sessions, CaptureWiring& capture, Stage& stage, QObject* parent)
    : QObject(parent), m_window(window), m_running(running), m_sessions(sessions), m_capture(capture), m_stage(stage) {
    m_overlay = new ShortcutsOverlay(shortcutLines(), window.centralWidget());
    buildMenu();
    qApp->installEventFilter(this);
    // Qt hands the focus of what is hidden or disabled to whatever comes next: that may be a field, which would take single-letter keys for text.
    connect(qApp, &QApplication::focusChanged, this, [this](const QWidget* before, const QWidget* now) {
        if (before == nullptr || now == nullptr || (before->isVisible() && before->isEnabled()) || before->window() != &m_window || !takesText(now))
            return;
        QWidget* page = m_window.pages().currentWidget();
        QWidget* takes = page->focusProxy() != nullptr ? page->focusProxy() : page;
        const bool onPage = page->isAncestorOf(before) && takes->isVisible() && takes->isEnabled() && takes->focusPolicy() != Qt::NoFocus;
        (onPage ? takes : m_window.pages().tabBar())->setFocus(Qt::OtherFocusReason);
    });
}

void WindowActions::buildMenu() {
    auto* menu = new QMenu(&m_window);
    const auto add = [&](const QString& icon, const QString& text, const QKeySequence& keys, auto&& what) {
        QAction* action = icon.isEmpty() ? menu->addAction(text) : menu->addAction(lineIcon(icon), text);
        action->setShortcut(keys);
        m_window.addAction(action);
        connect(action, &QAction::triggered, this, what);
        return action;
    };
    const auto addForRun = [&](const QString& icon, const QString& text, const QString& keys, auto&& what) {
        QAction* action = add(icon, text, QKeySequence(keys), what);
        action->setEnabled(m_running.takesCommands());
        connect(&m_running, &RunWiring::takesCommandsChanged, action, &QAction::setEnabled);
    };
    addThemes(menu->addMenu(lineIcon("theme"), "&Theme"));
    add("file", "&Import…", QKeySequence("Ctrl+O"), [this] { Q_EMIT importRequested(); });
    add("export", "&Export session as CSV…", {}, [this] { exportChosen(); });
    add("note", "&Guide", QKeySequence(Qt::Key_F1), [this] { openGuide(); });
    add("keyboard", "&Keyboard", {}, [this] { m_overlay->open(); });
    add("", "&Record two short demo sessions", {}, [this] { Q_EMIT demoRequested(); });
    add("", "&About Stepscope", {}, [this] {
        m_window.notice().say(NoticeBar::Kind::Note,
                              QString("Stepscope %1, GPL-3.0-or-later. Trains a GPT and shows what each speed optimisation does on this machine.")
                                  .arg(STEPSCOPE_VERSION));
    });
    menu->addSeparator();
    addForRun("", "&Validate now", "Ctrl+Shift+V", [this] { m_running.validate(); });
    addForRun("file", "Save &checkpoint", "Ctrl+S", [this] { m_running.saveCheckpoint(); });
    addForRun("dice", "&Draw other batches", "Ctrl+Shift+R", [this] { m_running.drawOtherBatches(); });
    add("range", "Ca&pture steps…", QKeySequence("Ctrl+Shift+C"), [this] { m_capture.ask(); });
    QAction* stop = add("stop", "&Stop", QKeySequence("Ctrl+."), [this] { m_running.stop(); });
    stop->setEnabled(m_running.canStop());
    connect(&m_running, &RunWiring::canStopChanged, stop, &QAction::setEnabled);
    const auto jump = [&](const QKeySequence& keys, bool back) {
        auto* action = new QAction(&m_window);
        action->setShortcut(keys);
        m_window.addAction(action);
        connect(action, &QAction::triggered, this, [this, back] { jumpToPanel(back); });
    };
    jump(QKeySequence(Qt::Key_F6), false);
    jump(QKeySequence(Qt::SHIFT | Qt::Key_F6), true);
    add("", "&Quit", QKeySequence("Ctrl+Q"), [this] { m_window.close(); });
    m_window.runBar().setMenu(menu);
}

// Made when it is asked for: reading and laying out the chapters is not part of starting.
void WindowActions::openGuide(const QString& chapter) {
    if (m_guide == nullptr) m_guide = new GuidePanel(&m_window);
    m_guide->open();
    if (!chapter.isEmpty()) m_guide->showChapter(chapter);
}

void WindowActions::addThemes(QMenu* menu) {
    auto* group = new QActionGroup(menu);
    const auto add = [&](const QString& text, Theme theme, const char* stored) {
        QAction* action = menu->addAction(text);
        action->setCheckable(true);
        action->setChecked(currentTheme() == theme);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [theme, stored] {
            applyStyle(*qApp, theme);
            QSettings().setValue("window/theme", stored);
        });
    };
    add("As the &system", Theme::System, "system");
    add("&Light", Theme::Light, "light");
    add("&Dark", Theme::Dark, "dark");
}

// On the application, because lists swallow letters for their own search and would never pass them on.
bool WindowActions::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::WindowDeactivate || event->type() == QEvent::MouseButtonPress) m_altAlone = false;
    if (event->type() == QEvent::KeyRelease || event->type() == QEvent::KeyPress) {
        auto* at = qobject_cast<QWidget*>(watched);
        if (at != nullptr && at->window() == &m_window && openMenuByKey(*event)) return true;
    }
    if (event->type() != QEvent::KeyPress) return false;
    auto* widget = qobject_cast<QWidget*>(watched);
    QWidget* focus = QApplication::focusWidget();
    if (widget == nullptr || widget->window() != &m_window || (focus != nullptr && widget != focus)) return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    if (m_overlay->isVisible() || takesText(widget) || (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) != 0) return false;
    if (key->key() == Qt::Key_Space && takesSpace(widget)) return false;
    if (m_window.timelinePage().takesKey(key->key(), key->text())) return false;
    return act(key->key(), key->text());
}

void WindowActions::exportChosen() {
    if (!m_window.sessions().exportSelected())
        m_running.say("No session is chosen: click one in the panel Sessions, at the right, and export then writes its steps.", true);
}

// F10, or Alt alone: pressed and let go with nothing in between.
bool WindowActions::openMenuByKey(const QEvent& event) {
    const auto& key = static_cast<const QKeyEvent&>(event);
    const bool pressed = event.type() == QEvent::KeyPress;
    const bool alone = m_altAlone;
    m_altAlone = pressed && key.key() == Qt::Key_Alt && !key.isAutoRepeat();
    const bool asked = (pressed && key.key() == Qt::Key_F10 && key.modifiers() == Qt::NoModifier) || (!pressed && key.key() == Qt::Key_Alt && alone);
    // Opened from the event loop: the menu has one of its own, and this is the middle of an event.
    if (asked) QMetaObject::invokeMethod(&m_window.runBar(), &RunBar::openMenu, Qt::QueuedConnection);
    return asked;
}

// The parts of the window in the order of reading; each keeps what had the keyboard in it last.
void WindowActions::jumpToPanel(bool back) {
    const std::vector<QWidget*> panels{&m_window.runBar(), &m_window.experiment(), m_window.pages().currentWidget(), &m_window.sessions(),
                                       &m_window.log()};
    QWidget* focus = QApplication::focusWidget();
    const auto here = std::ranges::find_if(panels, [&](const QWidget* panel) { return panel == focus || panel->isAncestorOf(focus); });
    const auto count = static_cast<std::ptrdiff_t>(panels.size());
    const std::ptrdiff_t now = here == panels.end() ? (back ? 0 : -1) : here - panels.begin();
    for (std::ptrdiff_t step = 1; step <= count; ++step) {
        QWidget* panel = panels[static_cast<std::size_t>((now + (back ? -step : step) + 2 * count) % count)];
        QWidget* takes = panel->focusPolicy() == Qt::NoFocus ? firstStop(*panel) : panel;
        if (takes == nullptr) continue;
        takes->setFocus(Qt::ShortcutFocusReason);
        return;
    }
}

bool WindowActions::act(int key, const QString& text) {
    if (text == "/")
        m_window.sessions().focusSearch();
    else if (text == "?")
        m_overlay->open();
    else if (key == Qt::Key_Space)
        m_running.runOrPause();
    else if (key >= Qt::Key_1 && key <= Qt::Key_9 && key < Qt::Key_1 + m_window.pages().count())
        m_window.pages().setCurrentIndex(key - Qt::Key_1);
    else if (key == Qt::Key_0)
        m_window.pages().setCurrentWidget(&m_window.inferencePage());
    else if (key == Qt::Key_F)
        m_window.livePage().fit();
    else if (key == Qt::Key_E)
        exportChosen();
    else if (key == Qt::Key_Escape && m_window.queryPage().isVisible() && m_window.queryPage().stop())
        return true;
    else if (key == Qt::Key_Escape && m_window.livePage().isVisible() && m_window.livePage().stepBack())
        return true;
    else if (key == Qt::Key_Escape && m_stage.replaying())
        m_sessions.returnToLive();
    else
        return false;
    return true;
}

}  // namespace stepscope
