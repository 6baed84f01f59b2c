#include "widgets/panels/ladder/LadderPage.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/Format.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ReportDialog.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ladder/LadderForm.h"
#include "widgets/panels/ladder/LadderTable.h"
#include "widgets/panels/ladder/StudyReplay.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

const char* kLadderWaits = "A run is in progress; stop it first, or wait for its end";
const char* kOtherMeasured = "Something is being measured; stop it first, or wait for its end";
constexpr int kLeastChart = 110, kLeastTable = 110;  // of their heights that are in view

// Asks for the least that its parts need and takes what is left, so that the page scrolls before they lie over each other.
class PagePartsSplitter : public QSplitter {
public:
    using QSplitter::QSplitter;
    QSize sizeHint() const override { return {QSplitter::sizeHint().width(), minimumSizeHint().height()}; }
};

QPushButton* ladderButton(const char* text, const char* icon, const char* tooltip) {
    auto* made = new QPushButton(text);
    made->setIcon(lineIcon(icon));
    made->setAutoDefault(false);
    made->setToolTip(tooltip);
    return made;
}

StudyBar barOf(const StudyRow& row, bool over) {
    using Kind = StudyBar::Kind;
    StudyBar bar{.name = QString::fromStdString(row.role == study::kFinal ? row.name + ", measured anew" : row.name),
                 .ratio = row.ratio,
                 .low = row.low,
                 .high = row.high,
                 .note = QString::fromStdString(whyWords(row))};
    bar.kind = row.state == study::kChosen     ? Kind::Chosen
               : row.state == study::kRunning  ? Kind::Running
               : row.state == study::kWaiting  ? Kind::Waiting
               : row.state == study::kMeasured ? Kind::Measured
                                               : Kind::Out;
    if (row.role == study::kCandidate && std::isfinite(row.total)) {
        bar.ratio = row.total;
        bar.low = row.totalLow;
        bar.high = row.totalHigh;
    }
    if (row.role == study::kBottom || (row.role == study::kCandidate && row.row == 0)) bar.ratio = bar.low = bar.high = 1;
    if (bar.kind == Kind::Waiting && bar.note.isEmpty()) bar.note = "waits";
    if (bar.kind == Kind::Running && bar.note.isEmpty()) bar.note = over ? "not decided" : "being measured";
    return bar;
}

// Cumulative for the rungs, which is what a ladder is about; the others as they are.
std::vector<StudyBar> barsOf(const StudyHistory& history, bool over) {
    const bool search = history.began() && history.began()->kind != "ladder";
    std::vector<StudyBar> bars;
    double below = 1, belowLow = 1, belowHigh = 1;  // what the rungs so far give together
    for (const StudyRow& row : history.rows()) {
        if (row.role == study::kValue || (search && (row.state == study::kSkipped || row.state == study::kWaiting))) continue;
        StudyBar bar = barOf(row, over);
        if (history.isMeasuredAnew(row)) bar.low = bar.high = kUnknown;
        if (row.role == study::kRung && row.state == study::kMeasured) {
            bar.ratio = below = row.total;
            bar.low = belowLow = row.totalLow;
            bar.high = belowHigh = row.totalHigh;
        } else if (row.role == study::kRung) {
            // Of one that is not decided only what it is beside the rung below is told; the axis is of the bottom.
            bar.ratio = below * row.ratio;
            bar.low = belowLow * row.low;
            bar.high = belowHigh * row.high;
        }
        bars.push_back(std::move(bar));
    }
    return bars;
}

}  // namespace

LadderPage::LadderPage(QWidget* parent) : QWidget(parent) {
    m_view.history = std::make_shared<const StudyHistory>();
    setAccessibleName("Ladder");
    m_form = new LadderForm;
    connect(m_form, &LadderForm::edited, this, &LadderPage::showButtons);
    connect(m_form, &LadderForm::edited, this, &LadderPage::edited);
    connect(m_form, &LadderForm::fileRequested, this, &LadderPage::fileRequested);
    m_title = new ElidedLabel(Tone::Muted);
    m_answer = new ElidedLabel(Tone::Normal, 2);
    QFont large = headFont(m_answer->font());
    large.setPointSizeF(large.pointSizeF() * 1.15);
    m_answer->setFont(large);
    m_answer->setAccessibleName("Answer");
    m_beside = new ElidedLabel(Tone::Normal, 2);
    m_beside->setAccessibleName("Beside the time");
    m_earlier = new TitleButton("");
    m_earlier->setLink(true);
    m_earlier->setFocusPolicy(Qt::TabFocus);
    connect(m_earlier, &TitleButton::clicked, this, [this] {
        if (!m_view.earlier.empty()) Q_EMIT earlierRequested(m_view.earlier.front().session);
    });
    m_progress = new ElidedLabel(Tone::Muted);
    m_progress->setAccessibleName("How far it is");
    m_replay = new StudyReplay;
    connect(m_replay, &StudyReplay::moved, this, &LadderPage::showRows);
    m_chart = new StudyChart;
    m_table = new LadderTable;
    m_table->setMinimumHeight(kLeastTable);
    auto* parts = new PagePartsSplitter(Qt::Vertical);
    // As tall as its rows: it scrolls, and never asks the window for more than the screen has.
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumHeight(kLeastChart);
    scroll->setWidget(m_chart);
    parts->addWidget(scroll);
    parts->addWidget(m_table);
    parts->setStretchFactor(0, 3);
    parts->setStretchFactor(1, 2);
    parts->setChildrenCollapsible(false);
    auto* inside = new QWidget;
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(space(3), space(2), space(3), space(1));
    layout->setSpacing(space(1));
    layout->addWidget(m_form);
    layout->addWidget(m_answer);
    layout->addWidget(m_beside);
    layout->addWidget(m_title);
    layout->addWidget(m_progress);
    layout->addWidget(m_replay);
    layout->addWidget(m_earlier);
    layout->addWidget(parts, 1);
    // A small window keeps its log: what comes and goes above the chart never asks it for more height. The buttons stay in sight.
    auto* scrolled = new QScrollArea;
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setWidgetResizable(true);
    scrolled->setFocusPolicy(Qt::NoFocus);
    scrolled->setWidget(inside);
    auto* actions = new QHBoxLayout;
    actions->setContentsMargins(space(3), 0, space(3), space(3));
    actions->addWidget(buildActions());
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(scrolled, 1);
    outer->addLayout(actions);
    setView(m_view);
}

QWidget* LadderPage::buildActions() {
    m_measure = ladderButton("Measure", "run", "Begins");
    m_stop = ladderButton("Stop", "stop", "Ends it and keeps what is known");
    m_resume = ladderButton("Go on", "resume", "Goes on with this ladder: rungs that were decided are kept");
    m_use = ladderButton("Use it", "undo", "Puts what is recommended into the panel at the left");
    m_report = ladderButton("Report…", "export", "A page to keep or to send: every row with its interval, this machine, and how to ask it again");
    m_guide = new TitleButton("Which switch first");
    m_guide->setLink(true);
    m_guide->setFocusPolicy(Qt::TabFocus);
    auto* all = new QWidget;
    auto* buttons = new FlowLayout(all);
    for (QPushButton* one : {m_measure, m_stop, m_resume, m_use, m_report}) buttons->addWidget(one);
    buttons->addWidget(m_guide);
    connect(m_measure, &QPushButton::clicked, this, &LadderPage::measureRequested);
    connect(m_stop, &QPushButton::clicked, this, &LadderPage::stopRequested);
    connect(m_resume, &QPushButton::clicked, this, &LadderPage::resumeRequested);
    connect(m_use, &QPushButton::clicked, this, &LadderPage::useRequested);
    connect(m_report, &QPushButton::clicked, this, [this] {
        const bool search = m_view.history->began() && m_view.history->began()->kind != "ladder";
        connect(openReportDialog(this, search ? "Report of the search" : "Report of the ladder"), &QFileDialog::fileSelected, this,
                &LadderPage::reportRequested);
    });
    connect(m_guide, &TitleButton::clicked, this, &LadderPage::guideRequested);
    return all;
}

void LadderPage::setForecast(const QString& sentence, bool problem) {
    m_problem = problem;
    m_foretold = sentence;
    showButtons();
}

void LadderPage::setBusy(LadderBusy busy, const QString& why) {
    m_busy = busy;
    m_why = why;
    showButtons();
}

void LadderPage::showButtons() {
    const bool free = m_busy == LadderBusy::Free;
    const QString number = m_form->wrongNumber();
    const bool problem = m_problem || !number.isEmpty();
    m_measure->setEnabled(free && !problem);
    // In sight as on the pages Compare and Diagnose: a button that is grey says nothing by itself.
    const QString waits = m_busy == LadderBusy::Training ? QString(kLadderWaits) + ". Times beside it would mean nothing."
                          : m_busy == LadderBusy::Taken  ? m_why
                          // What this page measures itself is told below.
                          : m_busy == LadderBusy::Measuring && !m_view.live ? QString(kOtherMeasured) + "."
                          : m_busy == LadderBusy::NoEngine && number.isEmpty() && m_foretold.isEmpty()
                              ? QString("This machine is still being looked at…")
                              : QString();
    m_form->say(!waits.isEmpty() ? waits : number.isEmpty() ? m_foretold : number, problem && waits.isEmpty());
    m_measure->setToolTip(free                              ? (problem ? m_form->said() : QString("Begins"))
                          : m_busy == LadderBusy::Training  ? kLadderWaits
                          : m_busy == LadderBusy::Taken     ? m_why
                          : m_busy == LadderBusy::Measuring ? kOtherMeasured
                                                            : "The engine is not ready yet");
    m_stop->setEnabled(m_view.live && !m_view.stopping);
    // It keeps its place, so that the buttons beside it do theirs.
    m_resume->setEnabled(free && m_view.resumable);
    m_resume->setToolTip(!m_view.resumable
                             ? "Nothing is shown here that could go on: a ladder that was stopped can, or one whose budget was too short"
                         : waitsForBudget(*m_view.history) && !m_view.live
                             ? "Measures the rows for which there was no time, in the minutes that are set above; rungs that were decided are kept"
                             : "Goes on with this ladder: rungs that were decided are kept");
    const bool searched = m_view.history->began() && m_view.history->began()->kind != "ladder";
    m_use->setEnabled(m_view.canUse && !m_view.live);
    m_use->setToolTip(m_use->isEnabled() ? "Puts what is recommended into the panel at the left"
                      : m_view.live      ? "There is something to use when this has ended"
                      : searched         ? "Nothing is recommended: it ended before it was known which settings are the fastest"
                                         : "Nothing was measured here that could be used");
    m_report->setEnabled(m_view.history->began().has_value() && !m_view.live);
}

void LadderPage::setView(const LadderView& view) {
    m_view = view;
    m_replay->setStudy(view.history, view.told, view.undecided());
    showEarlier();
    m_title->setText(view.source.isEmpty() ? view.title : view.title + ", " + view.source);
    m_title->setVisible(!m_title->text().isEmpty());
    showRows();
    showButtons();
}

// What is known, or was at the place to which the replay was drawn.
void LadderPage::showRows() {
    const StudyHistory& history = m_replay->history();
    const bool search = history.began() && history.began()->kind != "ladder", over = m_view.undecided() && m_replay->atEnd();
    QString answer = !m_view.failed.isEmpty() && m_replay->atEnd() ? m_view.failed : studyAnswer(history, over);
    if (!m_replay->atEnd() && answer.isEmpty()) answer = QString("At %1 it was not decided yet").arg(m_replay->place().section(' ', 0, 0));
    m_answer->setText(answer);
    m_beside->setText(studyBeside(history));
    QString progress = m_view.doing;
    if (m_view.live) {
        const auto count = [&](const char* state) { return static_cast<qlonglong>(std::ranges::count(history.rows(), state, &StudyRow::state)); };
        // For want of time, or of memory: nothing was measured of them that could speak against them.
        const auto untried = static_cast<qlonglong>(std::ranges::count_if(
            history.rows(), [](const StudyRow& row) { return row.role == study::kCandidate && row.state == study::kRejected && row.pairs == 0; }));
        const QString time = QString::fromStdString(format::duration(TimeNs::fromSeconds(std::max(0.0, m_view.elapsed))));
        if (m_view.stopping)
            progress = "stopping";
        else if (history.began() && search)
            progress = QString("%1 · %2 racing, %3 rejected").arg(time).arg(count(study::kRunning)).arg(count(study::kRejected) - untried) +
                       (untried > 0 ? QString(", %1 not raced").arg(untried) : QString());
        else if (history.began())
            progress = QString("%1 · %2 of %3 measured").arg(time).arg(history.measuredLegs()).arg(history.began()->legs);
    }
    m_progress->setText(progress);
    // Before its end a line may be empty that is not at its end: nothing moves under the pointer that draws the bar.
    if (m_replay->atEnd())
        for (QLabel* line : {m_answer, m_beside, m_progress}) line->setVisible(!line->text().isEmpty());
    m_chart->setBars(barsOf(history, over), !history.began() ? QString()
                                            : search
                                                ? QString("time of the present settings ÷ time of these, per token: right of ×1 is faster")
                                                : QString("times as fast as the bottom; below it, what is lost without a rung, as times as fast"));
    m_table->setVisible(history.began().has_value());
    m_table->setHistory(history, over);
}

// One line, so that the chart keeps its room; the tooltip has the others.
void LadderPage::showEarlier() {
    m_earlier->setVisible(m_view.earlierCount > 0 && !m_view.earlier.empty());
    if (m_view.earlier.empty()) return;
    const EarlierRow& last = m_view.earlier.front();
    const QString begin = m_view.earlierCount == 1 ? QString("Asked once before here, ")
                                                   : QString("Asked %1 times before here, the last time ").arg(m_view.earlierCount);
    m_earlier->setText(begin + QString("in session %1, %2: %3").arg(last.session).arg(last.when, last.words));
    QString all;
    for (const EarlierRow& row : m_view.earlier)
        all += QString("<p>session %1, %2: %3</p>").arg(row.session).arg(row.when.toHtmlEscaped(), row.words.toHtmlEscaped());
    m_earlier->setToolTip(all);
}

QString LadderPage::forecast() const {
    return m_form->said();
}
QString LadderPage::answer() const {
    return m_answer->text();
}
QString LadderPage::progress() const {
    return m_progress->text();
}
QString LadderPage::beside() const {
    return m_beside->text();
}
QString LadderPage::earlier() const {
    return m_earlier->isVisibleTo(this) ? m_earlier->text() : QString();
}

}  // namespace stepscope
