#include "widgets/timeline/panes/PaneStrip.h"

#include <QHBoxLayout>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/LayersPane.h"
#include "widgets/timeline/panes/MemoryPane.h"
#include "widgets/timeline/panes/RooflinePane.h"
#include "widgets/timeline/panes/TablePanes.h"

namespace stepscope {
namespace {
constexpr const char* kCurrentPane = "timeline/pane";
}

PaneStrip::PaneStrip(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Panes of the timeline");
    m_fold = new QToolButton;
    m_fold->setAutoRaise(true);
    m_fold->setIconSize({12, 12});
    m_tabs = new QTabBar;
    m_tabs->setExpanding(false);
    m_tabs->setDrawBase(false);
    m_tabs->setDocumentMode(true);
    m_tabs->setUsesScrollButtons(true);
    m_tabs->setElideMode(Qt::ElideNone);
    m_tabs->setAccessibleName("Panes");
    m_tabs->setFont(smallFont(font()));
    m_stop = new QToolButton;
    m_stop->setText("Stop reading");
    m_stop->setAutoRaise(true);
    m_stop->setToolTip("A long range is being read; what is shown is of the one before");
    m_stop->hide();
    m_problem = sentenceLabel(Tone::Error);
    m_stack = new QStackedWidget;
    m_overview = new OverviewPane;
    m_operations = new OperationsPane;
    m_kernels = new KernelsPane;
    m_idle = new IdlePane;
    m_flame = new FlamePane;
    m_layers = new LayersPane;
    m_memory = new MemoryPane;
    m_roofline = new RooflinePane;
    m_panes = {m_overview, m_operations, m_kernels, m_idle, m_flame, m_layers, m_memory, m_roofline};
    m_fresh.assign(m_panes.size(), false);
    const char* const titles[Tabs] = {"Overview", "Operations", "Kernels", "Idle", "Flame graph", "Layers", "Memory", "Roofline"};
    const char* const tips[Tabs] = {"What steps spent their time with",
                                    "What ran on the CPU, by name",
                                    "What ran on GPUs, by name",
                                    "What streams of GPUs waited for",
                                    "What called what for how long",
                                    "Where in the model the time went",
                                    "What memory was in use, and for what",
                                    "What operations reach beside what the machine can do at most"};
    for (int i = 0; i < Tabs; ++i) {
        m_stack->addWidget(m_panes[static_cast<std::size_t>(i)]);
        m_tabs->addTab(titles[i]);
        m_tabs->setTabToolTip(i, tips[i]);
        connect(m_panes[static_cast<std::size_t>(i)], &Pane::sliceWanted, this, &PaneStrip::sliceWanted);
        connect(m_panes[static_cast<std::size_t>(i)], &Pane::nameWanted, this, &PaneStrip::nameWanted);
    }
    auto* line = new QHBoxLayout;
    line->setSpacing(space(1));
    line->addWidget(m_fold);
    line->addWidget(m_tabs, 1);
    line->addWidget(m_stop);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(line);
    layout->addWidget(m_problem);
    layout->addWidget(m_stack, 1);
    layout->addStretch(0);
    connect(m_fold, &QToolButton::clicked, this, [this] { setOpen(!m_open); });
    m_tabs->setCurrentIndex(std::clamp(QSettings().value(kCurrentPane, 0).toInt(), 0, Tabs - 1));
    connect(m_tabs, &QTabBar::currentChanged, this, &PaneStrip::showState);
    connect(m_tabs, &QTabBar::tabBarClicked, this, [this](int tab) {
        if (tab < 0) return;
        const int pane = tab - (m_guest != nullptr ? 1 : 0);
        if (pane >= 0) QSettings().setValue(kCurrentPane, pane);
        setOpen(true);
    });
    connect(m_stop, &QToolButton::clicked, this, &PaneStrip::stopWanted);
    showState();
}

int PaneStrip::foldedHeight() const {
    return std::max(m_tabs->sizeHint().height(), m_fold->sizeHint().height()) + 2;
}

void PaneStrip::setOpen(bool open) {
    if (open == m_open) return;
    m_open = open;
    showState();
    Q_EMIT openChanged(open);
}

PaneStrip::Tab PaneStrip::current() const {
    const int first = m_guest != nullptr ? 1 : 0;
    return static_cast<Tab>(std::max(0, m_tabs->currentIndex() - first));
}

void PaneStrip::showTab(Tab tab) {
    m_tabs->setCurrentIndex(tab + (m_guest != nullptr ? 1 : 0));
    setOpen(true);
}

void PaneStrip::setGuest(QWidget* widget, const QString& title) {
    if (widget == m_guest) return;
    if (m_guest != nullptr) {
        m_stack->removeWidget(m_guest);
        m_guest = nullptr;
        m_tabs->removeTab(0);
    }
    if (widget != nullptr) {
        m_guest = widget;
        m_stack->addWidget(widget);
        const int now = m_tabs->currentIndex();
        m_tabs->insertTab(0, title);
        m_tabs->setCurrentIndex(now + 1);
    }
    showState();
}

void PaneStrip::showGuest() {
    if (m_guest != nullptr) m_tabs->setCurrentIndex(0);
}

void PaneStrip::setView(const PanesView& view) {
    m_problem->clear();
    m_view = view;
    m_fresh.assign(m_panes.size(), false);
    if (!m_view.panes)
        for (Pane* pane : m_panes) pane->setView(m_view);  // no figure of what was shown before stays, also where nobody looks
    showState();
}

void PaneStrip::setProblem(const QString& sentence) {
    m_problem->setText(sentence);
    showState();
}

void PaneStrip::setReading(bool reading) {
    m_stop->setVisible(reading);
}

void PaneStrip::setSelected(const std::optional<QString>& name, bool onDevice) {
    m_selected = name;
    m_onDevice = onDevice;
    if (m_open) m_panes[current()]->setSelected(name, onDevice);
}

void PaneStrip::showState() {
    m_fold->setIcon(lineIcon(m_open ? "chevron-down" : "chevron-right"));
    m_fold->setAccessibleName(m_open ? "Fold the panes" : "Unfold the panes");
    m_fold->setToolTip(m_open ? "Folds the panes to their tabs" : "Shows the panes: what this range comes to");
    m_problem->setVisible(m_open && !m_problem->text().isEmpty());
    m_stack->setVisible(m_open);
    const bool guest = m_guest != nullptr && m_tabs->currentIndex() == 0;
    m_stack->setCurrentWidget(guest ? m_guest : m_panes[current()]);
    // What nobody looks at is not filled.
    if (m_open && !guest && m_view.panes) {
        if (!m_fresh[current()]) m_panes[current()]->setView(m_view);
        m_fresh[current()] = true;
        m_panes[current()]->setSelected(m_selected, m_onDevice);
    }
    setMinimumHeight(m_open ? foldedHeight() + 70 : foldedHeight());
    setMaximumHeight(m_open ? QWIDGETSIZE_MAX : foldedHeight());
}

}  // namespace stepscope
