#include "widgets/timeline/TimelinePage.h"

#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTextBrowser>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "core/base/Format.h"
#include "core/events/Command.h"
#include "widgets/panels/FoldingRow.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/guide/ShortcutsOverlay.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/TimelineLegend.h"
#include "widgets/timeline/TimelineWords.h"
#include "widgets/timeline/panes/PaneStrip.h"

namespace stepscope {
namespace {

constexpr int kCaptureSteps = 3;

std::vector<ShortcutsOverlay::Line> timelineKeys() {
    return {{"W, S, wheel", "zoom in, zoom out, about the pointer"},
            {"A, D, drag", "move left, right"},
            {"Up, Down, Ctrl+wheel", "other lanes"},
            {"F", "all of it"},
            {"PgUp, PgDn", "the capture before, the next one"},
            {"Click", "facts of a slice and its kin; on a name: fold the lane"},
            {"Double click", "the slice as wide as the timeline"},
            {"[  ]", "where its arrow comes from, where it leads"},
            {"Shift+drag", "sums of a range"},
            {"/", "search a name"},
            {"N, Shift+N", "the next of it, the one before"},
            {"M", "set a mark, take it away; two tell how far apart they are"},
            {"Esc", "nothing selected"},
            {"?", "this list"}};
}

QToolButton* smallButton(const QString& text, const QString& name, const QString& tip) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    return button;
}

}  // namespace

TimelinePage::TimelinePage(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Timeline page");
    m_view = new TimelineView;
    setFocusProxy(m_view);
    m_capture = new QPushButton("Capture now");
    m_capture->setAutoDefault(false);
    m_capture->setToolTip("Records every operation of the next steps of the run; those steps take longer and are left out where steps are compared");
    m_steps = new QSpinBox;
    m_steps->setRange(1, static_cast<int>(kMostCapturedSteps));
    m_steps->setValue(kCaptureSteps);
    m_steps->setSuffix(" steps");
    m_steps->setAccessibleName("Steps to capture");
    m_search = new QLineEdit;
    m_search->setPlaceholderText("Search a name");
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName("Search slices by name");
    m_search->setMinimumWidth(90);
    m_back = smallButton("‹", "The one before", "The last slice of that name before this one (Shift+N)");
    m_next = smallButton("›", "The next", "The next slice of that name (N)");
    m_fit = smallButton("Fit", "Show all", "Show all of it (F)");
    m_copy = smallButton("Copy", "Copy as text", "Copies what is selected, or what is in sight, as text");
    m_help = smallButton("?", "Keys of the timeline", "Keys of the timeline (?)");
    m_sentence = sentenceLabel(Tone::Muted);
    m_sentence->setAccessibleName("What the timeline shows");
    m_legend = new TimelineLegend;
    m_details = new QTextBrowser;
    m_details->setAccessibleName("What is selected");
    m_details->setOpenLinks(false);
    m_details->setFrameShape(QFrame::NoFrame);
    m_details->setFont(smallFont(font()));
    m_details->setTabChangesFocus(true);
    m_split = new QSplitter(Qt::Vertical);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(m_view);
    m_split->addWidget(m_details);
    m_split->setStretchFactor(0, 1);
    m_details->setMinimumSize(160, 70);
    buildPanes();

    auto* asking = new QHBoxLayout;
    asking->setSpacing(space(2));
    asking->addWidget(m_capture);
    asking->addWidget(m_steps);
    asking->addStretch(0);
    auto* looking = new QHBoxLayout;
    looking->setSpacing(space(2));
    looking->addWidget(m_search, 1);
    for (QToolButton* button : {m_back, m_next, m_fit, m_copy, m_help}) looking->addWidget(button);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(3), space(3), space(3), space(2));
    layout->setSpacing(space(2));
    layout->addWidget(new FoldingRow(asking, looking));
    layout->addWidget(m_sentence);
    layout->addWidget(m_outer, 1);
    layout->addStretch(0);
    m_keys = new ShortcutsOverlay(timelineKeys(), this);

    connect(m_capture, &QPushButton::clicked, this, [this] { Q_EMIT captureRequested(m_steps->value()); });
    connect(m_view, &TimelineView::searchWanted, this, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        m_view->setFocus(Qt::OtherFocusReason);
        // Of other words the first of all, wherever somebody looks.
        if (m_search->text() != m_lookedFor) m_place = TracePlace::before(m_view->content().lanes.begin);
        find(true);
    });
    connect(m_view, &TimelineView::nextWanted, this, &TimelinePage::find);
    connect(m_back, &QToolButton::clicked, this, [this] { find(false); });
    connect(m_next, &QToolButton::clicked, this, [this] { find(true); });
    connect(m_fit, &QToolButton::clicked, m_view, &TimelineView::fit);
    connect(m_copy, &QToolButton::clicked, this, &TimelinePage::copy);
    connect(m_help, &QToolButton::clicked, m_keys, &ShortcutsOverlay::open);
    connect(m_view, &TimelineView::helpWanted, m_keys, &ShortcutsOverlay::open);
    connect(m_view, &TimelineView::flowWanted, this, &TimelinePage::follow);
    connect(m_view, &TimelineView::selectionCleared, this, [this] {
        m_flows.clear();
        setSelection({});
        tellNothing();
        showState();
    });
    // What a pane had asked for and got no answer to says nothing of what a person points at.
    connect(m_view, &TimelineView::clicked, this, [this] { m_fromPane = m_ledNext = false; });
    tellNothing();
    showState();
}

void TimelinePage::setContent(TimelineContent content) {
    const bool another = content.session != m_session || !m_some;
    m_session = content.session;
    m_some = !content.lanes.lanes.empty();
    m_problem.clear();
    m_loading.clear();
    m_view->setContent(std::move(content));
    if (another) {
        m_flows.clear();
        m_lost.clear();
        m_lostSamples.clear();
        m_told = false;
        tellNothing();
        m_place = TracePlace::before(m_view->content().lanes.begin);
    }
    showState();
    Q_EMIT contentChanged();
}

void TimelinePage::setLosses(std::vector<TraceLoss> losses) {
    std::int64_t lost = 0, invalid = 0;
    for (const TraceLoss& one : losses) {
        lost = cappedSum(lost, one.lost);
        invalid = cappedSum(invalid, one.invalid);
    }
    const auto count = [](std::int64_t slices) { return QString::fromStdString(format::count(slices)); };
    m_lost.clear();
    if (lost > 0 || invalid > 0)
        m_lost = QString("%1 slices were lost and %2 were invalid, and are not in it: a line at the upper edge of a lane marks where.")
                     .arg(count(lost), count(invalid));
    m_view->setLosses(std::move(losses));
    showState();
}

void TimelinePage::setCounters(std::vector<CounterSeries> counters, qint64 missing) {
    m_lostSamples.clear();
    if (missing > 0)
        m_lostSamples = missing == 1 ? QString("1 sample of counters was lost or invalid: the curve is without it.")
                                     : QString("%1 samples of counters were lost or invalid: the curves are without them.")
                                           .arg(QString::fromStdString(format::count(missing)));
    m_view->setCounters(std::move(counters));
    showState();
}

void TimelinePage::setNothing(qint64 session) {
    m_session = session;
    m_some = false;
    m_problem.clear();
    m_loading.clear();
    showState();
}

void TimelinePage::setProblem(const QString& sentence) {
    m_problem = sentence;
    m_loading.clear();
    m_some = false;
    showState();
}

void TimelinePage::setUnread(const QString& sentence) {
    m_problem = sentence;
    showState();
}

void TimelinePage::setLoading(const QString& sentence) {
    m_loading = sentence;
    showState();
}

void TimelinePage::setReady(bool ready) {
    m_ready = ready;
    m_waiting = m_waiting && ready;
    showState();
}

void TimelinePage::setWaiting(bool waiting) {
    m_waiting = waiting;
    showState();
}

void TimelinePage::setSlice(const TraceSlice& slice, const KinAnswer& kin, const std::vector<TraceSlice>& flows) {
    m_flows = flows;
    m_place = slice.place();
    setSelection(slice);
    if (!std::exchange(m_fromPane, false) && m_guest) m_panes->showGuest();
    tell(sliceWords(slice, kin, flows, m_view->content().lanes.begin));
    showState();
}

void TimelinePage::setSums(qint64 from, qint64 to, const RangeSums& sums) {
    tell(sumsWords(from, to, sums));
    showState();
}

void TimelinePage::tell(const QString& html) {
    m_tells = m_told = true;
    m_details->setHtml(html);
}

void TimelinePage::tellNothing() {
    m_tells = false;
    m_details->setHtml(
        "Nothing is selected. A click on a slice shows what is known of it and of all of its name; dragging with Shift sums up a range.");
}

void TimelinePage::clearSelection() {
    m_view->clearSelection();
}

void TimelinePage::setFound(const std::optional<TraceSlice>& slice, bool forwards) {
    if (slice) {
        m_place = slice->place();
        return std::exchange(m_ledNext, false) ? showFromPane(*slice) : m_view->reveal(*slice);
    }
    m_ledNext = m_fromPane = false;
    if (m_guest) m_panes->showGuest();
    const QString words = m_search->text().toHtmlEscaped();
    tell(forwards && m_place == TracePlace::before(m_view->content().lanes.begin)
             ? QString("No slice has “%1” in its name.").arg(words)
             : QString("No slice with “%1” in its name begins %2 here.").arg(words, forwards ? "after" : "before"));
    showState();
}

void TimelinePage::addTiles(const std::vector<LodTilePtr>& tiles) {
    m_view->addTiles(tiles);
    m_legend->setLooks(m_view->looks());
}

QString TimelinePage::sentence() const {
    return m_sentence->isHidden() ? QString() : m_sentence->text();
}

QString TimelinePage::details() const {
    return m_tells ? m_details->toPlainText() : QString();
}

bool TimelinePage::takesKey(int key, const QString& text) const {
    // Of whatever has the keyboard on the page: else it would end a replay while somebody reads the facts.
    const QWidget* focus = QApplication::focusWidget();
    if (key == Qt::Key_Escape && m_some && focus != nullptr && isAncestorOf(focus))
        return m_view->selected().has_value() || m_view->range().has_value();
    if (!m_view->hasFocus() || !m_some) return false;
    if (text == "/" || text == "?" || text == "[" || text == "]") return true;
    switch (key) {
        case Qt::Key_W:
        case Qt::Key_A:
        case Qt::Key_S:
        case Qt::Key_D:
        case Qt::Key_F:
        case Qt::Key_M:
        case Qt::Key_N:
            return true;
        default:
            return false;
    }
}

void TimelinePage::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape && takesKey(event->key(), event->text())) return clearSelection();
    QWidget::keyPressEvent(event);
}

void TimelinePage::searchFor(const QString& words) {
    m_search->setText(words);
    m_place = TracePlace::before(m_view->content().lanes.begin);
    find(true);
}

void TimelinePage::find(bool forwards) {
    m_lookedFor = m_search->text();
    if (!m_lookedFor.isEmpty()) Q_EMIT findWanted(m_lookedFor, m_place, forwards);
}

void TimelinePage::follow(bool forwards) {
    if (!m_view->selected()) return;
    const qint64 here = m_view->selected()->slice.start;
    for (const auto& other : m_flows)
        if ((other.slice.start >= here) == forwards) {
            const TraceSlice next = other;
            m_view->reveal(next);
            Q_EMIT m_view->sliceWanted(next.lane, next.slice.depth, next.slice.start, 0);
            return;
        }
}

void TimelinePage::copy() {
    QGuiApplication::clipboard()->setText(m_details->isHidden() || details().isEmpty() ? m_view->asText() : details());
}

void TimelinePage::showState() {
    m_capture->setEnabled(m_ready && !m_waiting);
    m_steps->setEnabled(m_ready && !m_waiting);
    for (QWidget* part : {static_cast<QWidget*>(m_search), static_cast<QWidget*>(m_back), static_cast<QWidget*>(m_next),
                          static_cast<QWidget*>(m_copy), static_cast<QWidget*>(m_help), static_cast<QWidget*>(m_fit)})
        part->setEnabled(m_some);
    if (m_outer->isVisibleTo(this) != m_some) {
        m_outer->setVisible(m_some);
        QTimer::singleShot(0, this, &TimelinePage::arrange);
    }
    m_legend->setLooks(m_view->looks());
    if (!m_guest) m_details->setVisible(showsDetails());
    m_sentence->setTone(m_problem.isEmpty() ? Tone::Muted : Tone::Error);
    const QString how = m_ready ? QString("“Capture now” records its next steps.")
                                : QString("While a run goes on, “Capture now” records its next steps; so does train --profile on the command line.");
    QString text;
    if (!m_problem.isEmpty())
        text = m_problem;
    else if (!m_loading.isEmpty())
        text = m_loading;
    else if (m_waiting)
        text = "Waiting for the steps.";
    else if (m_session == 0)
        text = "Nothing is shown yet: start a run, or double-click a session at the right. " + how;
    else if (!m_some)
        text = QString("No step of session %1 was captured. %2").arg(m_session).arg(how);
    else
        text = (m_lost + ' ' + m_lostSamples).trimmed();
    m_sentence->setText(text);
    m_sentence->setVisible(!text.isEmpty());
}

}  // namespace stepscope
