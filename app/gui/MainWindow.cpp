#include "app/gui/MainWindow.h"

#include <QCloseEvent>
#include <QGuiApplication>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include "widgets/charts/LivePage.h"
#include "widgets/panels/ExperimentPanel.h"
#include "widgets/panels/FlipStrip.h"
#include "widgets/panels/HintStrip.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/NoticeBar.h"
#include "widgets/panels/RunBar.h"
#include "widgets/panels/SessionsPanel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/TransportBar.h"

namespace stepscope {

MainWindow::MainWindow() {
    setWindowTitle("Stepscope");
    setWindowIcon(applicationIcon());
    m_runBar = new RunBar;
    m_notice = new NoticeBar;
    m_experiment = new ExperimentPanel;
    m_sessions = new SessionsPanel;
    m_log = new LogPanel;

    m_across = new QSplitter(Qt::Horizontal);
    m_across->setChildrenCollapsible(false);
    m_across->addWidget(m_experiment);
    m_across->addWidget(buildCentre());
    m_across->addWidget(m_sessions);
    m_across->setStretchFactor(1, 1);
    m_down = new QSplitter(Qt::Vertical);
    m_down->setChildrenCollapsible(false);
    m_down->addWidget(m_across);
    m_down->addWidget(m_log);
    m_down->setStretchFactor(0, 1);

    auto* all = new QWidget;
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_runBar);
    layout->addWidget(m_notice);
    layout->addWidget(m_down, 1);
    setCentralWidget(all);
}

QWidget* MainWindow::buildCentre() {
    m_hints = new HintStrip;
    m_flips = new FlipStrip;
    m_transport = new TransportBar;
    m_transport->hide();
    m_live = new LivePage;
    m_text = new TextPage;
    m_pages = new QTabWidget;
    // A page has the focus at first, so that the single keys (Space, F, /) act on the window and not on the first button.
    for (QWidget* page : {static_cast<QWidget*>(m_live), static_cast<QWidget*>(m_text)}) page->setFocusPolicy(Qt::StrongFocus);
    m_live->setAccessibleName("Live charts");
    m_text->setAccessibleName("Text");
    m_pages->setDocumentMode(true);
    m_pages->addTab(m_live, "Live");
    m_pages->addTab(m_text, "Text");
    m_pages->setAccessibleName("Pages");
    // The tab widget gives the keyboard to the first field of the page that comes, where 1, ? and Space would be typed.
    connect(m_pages, &QTabWidget::currentChanged, this, [this] {
        if (QWidget* page = m_pages->currentWidget(); page->isAncestorOf(focusWidget())) page->setFocus();
    });

    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_hints);
    layout->addWidget(m_transport);
    layout->addWidget(m_pages, 1);
    layout->addWidget(m_flips);
    centre->setMinimumWidth(360);
    return centre;
}

void MainWindow::restoreLayout(QSize wanted) {
    const QSettings settings;
    const QSize screen = QGuiApplication::primaryScreen()->availableSize();
    resize((screen * 0.86).boundedTo({1760, 1040}).expandedTo(QSize(1280, 800).boundedTo(screen)));
    if (wanted.isEmpty())
        restoreGeometry(settings.value("window/geometry").toByteArray());
    else
        resize(wanted);
    m_across->setSizes({320, width() - 320 - 248, 248});
    m_down->setSizes({height() - 150, 110});
    m_across->restoreState(settings.value("window/across").toByteArray());
    m_down->restoreState(settings.value("window/down").toByteArray());
    m_pages->setCurrentIndex(settings.value("window/page", 0).toInt());
    m_live->restoreLayout(settings.value("window/charts").toByteArray());
    m_text->restore(settings);
    m_pages->currentWidget()->setFocus();
}

void MainWindow::saveLayout() const {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    settings.setValue("window/across", m_across->saveState());
    settings.setValue("window/down", m_down->saveState());
    settings.setValue("window/page", m_pages->currentIndex());
    settings.setValue("window/charts", m_live->saveLayout());
    m_text->save(settings);
    if (m_remembersExperiment) m_experiment->save(settings);
}

// A run may have to be stopped first, and the window stays alive meanwhile.
void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_mayClose) return event->accept();
    event->ignore();
    Q_EMIT closeRequested();
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
