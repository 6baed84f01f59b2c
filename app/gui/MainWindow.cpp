#include "app/gui/MainWindow.h"

#include <QCloseEvent>
#include <QComboBox>
#include <QGuiApplication>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/gui/Centre.h"
#include "app/gui/SidePanels.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/experiment/WheelGuard.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/run/FlipStrip.h"
#include "widgets/panels/run/HintStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/RunBar.h"
#include "widgets/panels/run/TransportBar.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {
constexpr int kFrame = 8, kTitleBar = 32;          // that a window manager may draw around the window
constexpr int kExperiment = 384, kSessions = 248;  // widths of the two panels in a large window
}  // namespace

MainWindow::MainWindow() {
    setWindowTitle("Stepscope");
    setWindowIcon(applicationIcon());
    m_runBar = new RunBar;
    m_experiment = new ExperimentPanel;
    m_sessions = new SessionsPanel;
    m_log = new LogPanel;
    m_hints = new HintStrip;
    m_flips = new FlipStrip;

    m_across = new QSplitter(Qt::Horizontal);
    m_across->setChildrenCollapsible(false);
    m_across->addWidget(m_experiment);
    m_across->addWidget(buildCentre());
    m_across->addWidget(m_sessions);
    m_across->setStretchFactor(1, 1);
    m_sides = new SidePanels(m_across, m_pages, this);
    m_down = new QSplitter(Qt::Vertical);
    m_down->setChildrenCollapsible(false);
    m_down->addWidget(m_across);
    // What a flip did stands beside the log: it comes and goes, and nothing above it moves.
    m_bottom = new QSplitter(Qt::Horizontal);
    m_bottom->setChildrenCollapsible(false);
    m_bottom->addWidget(m_log);
    m_bottom->addWidget(m_hints);
    m_bottom->addWidget(m_flips);
    for (int part = 0; part < m_bottom->count(); ++part) m_bottom->setStretchFactor(part, 1);
    m_flips->installEventFilter(this);
    m_down->addWidget(m_bottom);
    m_down->setStretchFactor(0, 1);

    auto* all = new QWidget;
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_runBar);
    layout->addWidget(m_down, 1);
    setCentralWidget(all);
    // Over the older lines of the log, of which it is one: tabs, tools and charts stay in sight.
    m_notice = new NoticeBar(m_log, Qt::TopEdge);
    connect(m_notice, &NoticeBar::coveredChanged, m_log, &LogPanel::setCovered);
    new WheelGuard(this);
    for (auto* list : findChildren<QComboBox*>()) nameForReaders(*list, list->accessibleName());
}

QWidget* MainWindow::buildCentre() {
    m_transport = new TransportBar;
    m_live = new LivePage;
    m_text = new TextPage;
    m_pages = new QTabWidget;
    // A page has the focus at first, so that the single keys (Space, F, /) act on the window and not on the first button.
    m_sessionsPage = new SessionsPage(m_sessions->model());
    m_compare = new ComparePage;
    m_ladder = new LadderPage;
    m_diagnose = new DiagnosePage;
    m_operations = new OperationsPage;
    m_timeline = new TimelinePage;
    m_query = new QueryPage;
    m_inference = new InferencePage;
    for (QWidget* page :
         {static_cast<QWidget*>(m_live), static_cast<QWidget*>(m_text), static_cast<QWidget*>(m_sessionsPage), static_cast<QWidget*>(m_compare),
          static_cast<QWidget*>(m_ladder), static_cast<QWidget*>(m_diagnose), static_cast<QWidget*>(m_operations), static_cast<QWidget*>(m_timeline),
          static_cast<QWidget*>(m_query), static_cast<QWidget*>(m_inference)})
        page->setFocusPolicy(Qt::StrongFocus);
    m_live->setMinimumSize(320, 200);  // in a small window the charts are less high than they would like
    m_live->setAccessibleName("Live charts");
    m_text->setAccessibleName("Text");
    m_sessionsPage->setAccessibleName("Table of sessions");
    m_pages->setDocumentMode(true);
    m_pages->addTab(m_live, "Live");
    m_pages->addTab(m_text, "Text");
    m_pages->addTab(m_sessionsPage, "Sessions");
    m_pages->addTab(m_compare, "Compare");
    m_pages->addTab(m_ladder, "Ladder");
    m_pages->addTab(m_diagnose, "Diagnose");
    m_pages->addTab(m_operations, "Operations");
    m_pages->addTab(m_timeline, "Timeline");
    m_pages->addTab(m_query, "Query");
    m_pages->addTab(m_inference, "Inference");
    m_pages->setAccessibleName("Pages");
    // The tab widget gives the keyboard to the first field of the page that comes, where 1, ? and Space would be typed.
    connect(m_pages, &QTabWidget::currentChanged, this, [this] {
        if (QWidget* page = m_pages->currentWidget(); page->isAncestorOf(focusWidget())) page->setFocus();
    });

    auto* centre = new Centre(m_pages, m_transport);
    centre->setMinimumWidth(380);
    return centre;
}

void MainWindow::restoreLayout(QSize wanted) {
    const QSettings settings;
    const QRect screen = QGuiApplication::primaryScreen()->availableGeometry();
    // Its frame takes some of the screen too.
    const QSize room = screen.size() - QSize(2 * kFrame, kFrame + kTitleBar);
    const QSize first = (screen.size() * 0.86).boundedTo({1760, 1040}).expandedTo(QSize(1280, 800)).boundedTo(room);
    resize(first);
    move(screen.topLeft() + QPoint(kFrame, kFrame) + QPoint(room.width() - first.width(), room.height() - first.height()) / 2);
    if (wanted.isEmpty())
        restoreGeometry(settings.value("window/geometry").toByteArray());
    else
        resize(wanted);
    const int left = std::clamp(width() * 31 / 100, 276, kExperiment), right = std::clamp(width() * 19 / 100, 200, kSessions);
    m_across->setSizes({left, width() - left - right, right});
    m_down->setSizes({height() - 150, 110});
    m_bottom->setSizes({width() * 6 / 10, width() * 4 / 10, width() * 6 / 10});
    m_bottom->restoreState(settings.value("window/bottom").toByteArray());
    m_across->restoreState(settings.value("window/across").toByteArray());
    m_sides->refresh();
    m_down->restoreState(settings.value("window/down").toByteArray());
    m_pages->setCurrentIndex(settings.value("window/page", 0).toInt());
    m_live->restoreLayout(settings.value("window/charts").toByteArray());
    m_text->restore(settings);
    m_sessionsPage->restore(settings);
    m_query->restore(settings);
    m_inference->restore(settings);
    m_pages->currentWidget()->setFocus();
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/across", m_across->saveState());
    settings.setValue("window/down", m_down->saveState());
    settings.setValue("window/bottom", m_bottom->saveState());
    settings.setValue("window/page", m_pages->currentIndex());
    settings.setValue("window/charts", m_live->saveLayout());
    m_text->save(settings);
    m_sessionsPage->save(settings);
    m_query->save(settings);
    m_inference->save(settings);
    saveExperiment();
}

void MainWindow::saveExperiment() const {
    if (!m_remembersExperiment) return;
    QSettings settings;
    m_experiment->save(settings);
    settings.sync();
}

// A run may have to be stopped first, and the window stays alive meanwhile.
void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_mayClose) return event->accept();
    event->ignore();
    Q_EMIT closeRequested();
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_flips && (event->type() == QEvent::ShowToParent || event->type() == QEvent::HideToParent))
        m_hints->setVisible(event->type() == QEvent::HideToParent && m_hints->shown() > 0);
    return QMainWindow::eventFilter(watched, event);
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::WindowStateChange) Q_EMIT visibilityChanged(isVisible() && !isMinimized());
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    Q_EMIT visibilityChanged(!isMinimized());
}

void MainWindow::hideEvent(QHideEvent* event) {
    QMainWindow::hideEvent(event);
    Q_EMIT visibilityChanged(false);
}

}  // namespace stepscope
