// Where the lanes, the details and the panes of the page Timeline lie, and what panes make of it: beside or below each other as there is room, folded
// or as high as a person drew them.
#include <QSettings>
#include <QSplitter>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/style/Metrics.h"
#include "widgets/timeline/TimelineLegend.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/PaneStrip.h"

namespace stepscope {
namespace {

constexpr int kWideEnough = 900;  // for the details beside the lanes
constexpr int kHighEnough = 520;  // for lanes and panes at once
constexpr double kPanesShare = 0.42, kDetailsShare = 0.3;
constexpr const char *kPanesOpen = "timeline/panes", *kPanesHeight = "timeline/panesShare", *kDetailsWidth = "timeline/detailsShare";

}  // namespace

void TimelinePage::buildPanes() {
    m_panes = new PaneStrip;
    auto* lanes = new QWidget;
    auto* inLanes = new QVBoxLayout(lanes);
    inLanes->setContentsMargins(0, 0, 0, 0);
    inLanes->setSpacing(space(1));
    inLanes->addWidget(m_split, 1);
    inLanes->addWidget(m_legend);
    m_outer = new QSplitter(Qt::Vertical);
    m_outer->setChildrenCollapsible(false);
    m_outer->addWidget(lanes);
    m_outer->addWidget(m_panes);
    m_outer->setStretchFactor(0, 1);
    const QSettings settings;
    m_chosen = settings.contains(kPanesOpen);
    if (m_chosen) m_panes->setOpen(settings.value(kPanesOpen).toBool());
    m_share = std::clamp(settings.value(kPanesHeight, kPanesShare).toDouble(), 0.1, 0.9);
    m_detailsShare = std::clamp(settings.value(kDetailsWidth, kDetailsShare).toDouble(), 0.1, 0.7);
    connect(m_panes, &PaneStrip::openChanged, this, [this](bool open) {
        if (!m_arranging) {
            m_chosen = true;
            QSettings().setValue(kPanesOpen, open);
        }
        arrange();
    });
    connect(m_panes, &PaneStrip::sliceWanted, this, [this] { m_fromPane = true; });
    connect(m_panes, &PaneStrip::nameWanted, this, &TimelinePage::searchFromPane);
    connect(m_outer, &QSplitter::splitterMoved, this, [this] {
        if (!m_panes->isOpen() || m_outer->height() <= 0) return;
        m_share = std::clamp(static_cast<double>(m_panes->height()) / m_outer->height(), 0.1, 0.9);
        QSettings().setValue(kPanesHeight, m_share);
    });
    connect(m_split, &QSplitter::splitterMoved, this, [this] {
        if (m_split->orientation() != Qt::Horizontal || m_split->width() <= 0) return;
        m_detailsShare = std::clamp(static_cast<double>(m_details->width()) / m_split->width(), 0.1, 0.7);
        QSettings().setValue(kDetailsWidth, m_detailsShare);
    });
}

// Beside the lanes they keep their place, also while nothing is told: if they came with the first click, the slice that was clicked would move away.
bool TimelinePage::showsDetails() const {
    return m_told || width() >= kWideEnough;
}

void TimelinePage::setSelection(const std::optional<TraceSlice>& slice) {
    m_view->setSelected(slice, m_flows);
    m_panes->setSelected(slice ? std::optional(QString::fromStdString(slice->name)) : std::nullopt, slice && isDeviceWork(slice->slice.kind));
}

void TimelinePage::showFromPane(const TraceSlice& slice) {
    m_led = true;
    m_view->reveal(slice);
    m_led = false;
}

void TimelinePage::searchFromPane(const QString& name) {
    m_fromPane = m_ledNext = true;
    searchFor(name);
}

void TimelinePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void TimelinePage::arrange() {
    if (m_arranging) return;
    m_arranging = true;
    if (!m_chosen) m_panes->setOpen(height() >= kHighEnough);
    placeDetails();
    if (!m_guest) m_details->setVisible(showsDetails());
    // Where there is room the details stand beside the lanes, else below.
    const auto wanted = width() >= kWideEnough ? Qt::Horizontal : Qt::Vertical;
    if (m_split->orientation() != wanted) m_split->setOrientation(wanted);
    const int high = m_outer->height();
    const int panes = m_panes->isOpen() ? static_cast<int>(high * m_share) : m_panes->foldedHeight();
    m_outer->setSizes({high - panes, panes});
    const int all = wanted == Qt::Horizontal ? m_split->width() : m_split->height();
    const int details = static_cast<int>(all * (wanted == Qt::Horizontal ? m_detailsShare : kDetailsShare));
    m_split->setSizes({all - details, details});
    m_arranging = false;
}

// In a narrow window with the panes open there is no room for both: then they are one of the panes.
void TimelinePage::placeDetails() {
    const bool guest = width() < kWideEnough && m_panes->isOpen();
    if (guest == m_guest) return;
    m_guest = guest;
    if (guest) {
        m_panes->setGuest(m_details, "Selection");
    } else {
        m_panes->setGuest(nullptr, {});
        m_split->addWidget(m_details);
        m_details->setVisible(showsDetails());
    }
    // As a guest it is in sight while its tab is the current one, which the strip knows: shown from here it would lie over another pane.
}

}  // namespace stepscope
