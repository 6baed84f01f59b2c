#include "widgets/panels/ladder/LadderPage.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileInfo>
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
#include "core/events/ConfigKeys.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/FoldingRow.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ReportDialog.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/ladder/LadderTable.h"
#include "widgets/panels/ladder/StudyReplay.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

const char* kLadderWaits = "A run is in progress; stop it first, or wait for its end";
const char* kOtherMeasured = "Something is being measured; stop it first, or wait for its end";
const char* kSearchWords = "Tries every value of every switch beside the settings at the left, and recommends the fastest that computes the same.";
constexpr int kLeastChart = 110;  // of its height that is in view
// The bounds are those of the command line.
constexpr double kLeastEqual = 0.05, kMostEqual = 50, kLeastGigabytes = 0.01, kMostGigabytes = 1e6;
constexpr int kWordsRole = Qt::UserRole + 1;               // of the list: what one does; its own data is the name or the file
constexpr std::size_t kEqual = 0, kSeed = 1, kMemory = 2;  // places in the row "More"

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
    for (const StudyRow& row : history.rows()) {
        if (row.role == study::kValue || (search && (row.state == study::kSkipped || row.state == study::kWaiting))) continue;
        StudyBar bar = barOf(row, over);
        if (history.isMeasuredAnew(row)) bar.low = bar.high = kUnknown;
        if (row.role == study::kRung && row.state == study::kMeasured) {
            bar.ratio = row.total;
            bar.low = row.totalLow;
            bar.high = row.totalHigh;
        }
        bars.push_back(std::move(bar));
    }
    return bars;
}

}  // namespace

LadderPage::LadderPage(QWidget* parent) : QWidget(parent) {
    m_view.history = std::make_shared<const StudyHistory>();
    setAccessibleName("Ladder");
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
    auto* parts = new QSplitter(Qt::Vertical);
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
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(3), space(2), space(3), space(3));
    layout->setSpacing(space(1));
    layout->addWidget(buildQuestion());
    layout->addWidget(m_answer);
    layout->addWidget(m_beside);
    layout->addWidget(m_title);
    layout->addWidget(m_progress);
    layout->addWidget(m_replay);
    layout->addWidget(m_earlier);
    layout->addWidget(parts, 1);
    layout->addWidget(buildActions());
    setView(m_view);
}

QWidget* LadderPage::buildQuestion() {
    m_what = new QComboBox;
    m_what->setAccessibleName("What is measured");
    m_what->addItem("Find what is best here", QString());
    describeItem(0, kSearchWords);
    m_described = new ElidedLabel(Tone::Muted);
    m_described->setAccessibleName("What the chosen one does");
    m_minutes = new QDoubleSpinBox;
    m_minutes->setAccessibleName("Budget in minutes");
    m_minutes->setRange(0, 600);
    m_minutes->setDecimals(1);
    m_minutes->setSuffix(" min");
    m_minutes->setValue(5);
    m_minutes->setToolTip("Of everything; where steps are slow, a ladder takes longer for its own rungs, and a search up to a fifth more");
    m_leaveOneOut = new QCheckBox("Leave each out");
    m_leaveOneOut->setChecked(true);
    m_leaveOneOut->setToolTip("The top beside itself without each of its rungs: gains interact");
    m_pairs = new QCheckBox("and each two");
    m_pairs->setToolTip("The top without each two of its rungs, too: many measurements");
    m_sizes = new QCheckBox("Other batch sizes too");
    m_sizes->setToolTip("Half and twice the batch size and context race too: what is learnt a token changes with them");
    m_file = ladderButton("File…", "file", "A ladder of your own: a YAML file of rungs");
    m_forecast = new ElidedLabel(Tone::Muted, 2);
    m_forecast->setAccessibleName("What would be measured");
    auto* what = new QHBoxLayout;
    what->addWidget(m_what, 1);
    auto* how = new QHBoxLayout;
    how->setSpacing(space(2));
    how->addWidget(m_file);
    how->addWidget(m_minutes, 1);
    auto* second = new QHBoxLayout;
    second->setSpacing(space(3));
    for (QCheckBox* box : {m_leaveOneOut, m_pairs, m_sizes}) second->addWidget(box);
    m_more = new QCheckBox("More");
    m_more->setToolTip("What counts as equal, the seed of the coins, and how much memory a search may take");
    second->addWidget(m_more);
    second->addStretch(1);
    auto* all = new QWidget;
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    layout->addWidget(new FoldingRow(what, how, 1, 0));
    layout->addWidget(m_described);
    layout->addLayout(second);
    layout->addWidget(buildMore());
    layout->addWidget(m_forecast);
    connect(m_what, &QComboBox::currentIndexChanged, this, [this] {
        showButtons();
        Q_EMIT edited();
    });
    connect(m_minutes, &QDoubleSpinBox::valueChanged, this, &LadderPage::edited);
    for (QCheckBox* box : {m_leaveOneOut, m_pairs, m_sizes}) connect(box, &QCheckBox::toggled, this, &LadderPage::edited);
    connect(m_file, &QPushButton::clicked, this, &LadderPage::fileRequested);
    connect(m_more, &QCheckBox::toggled, m_moreRow, &QWidget::setVisible);
    return all;
}

// What is seldom changed, in a row of its own that is folded away.
QWidget* LadderPage::buildMore() {
    m_moreRow = new QWidget;
    auto* flow = new FlowLayout(m_moreRow);
    const auto add = [&](const char* key, const char* name, const char* tooltip, const ValueRange& range, double value) {
        auto* cell = new QWidget;
        auto* layout = new QHBoxLayout(cell);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(space(1));
        auto* edit = new NumberEdit;
        edit->setRange(range);
        edit->setText(QString::number(value, 'g', 6));
        edit->setAccessibleName(name);
        edit->setToolTip(tooltip);
        edit->setMaximumWidth(90);
        layout->addWidget(new QLabel(name));
        layout->addWidget(edit);
        flow->addWidget(cell);
        connect(edit, &NumberEdit::committed, this, [this] {
            showButtons();
            Q_EMIT edited();
        });
        m_numbers.push_back({key, range, edit, value});
        return cell;
    };
    add("equal", "Equal ± %", "A difference of less than this is called no difference", RealRange{kLeastEqual, kMostEqual}, 1);
    add("seed", "Seed", "Of the coins that order the turns, and of the order within the rounds of a search", IntegerRange{0, 1'000'000'000'000}, 1);
    m_memory = add("memory", "Memory, GB", "Nothing that is predicted to take more races; 0: bounded by this machine alone",
                   RealRange{0, kMostGigabytes}, 0);
    m_moreRow->hide();
    return m_moreRow;
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

void LadderPage::setLadders(const std::vector<LadderChoice>& ladders) {
    for (const LadderChoice& ladder : ladders) {
        if (m_what->findData(asText(ladder.name)) >= 0) continue;
        m_what->addItem("Ladder " + asText(ladder.name), asText(ladder.name));
        describeItem(m_what->count() - 1, "Adds one after the other: " + asText(ladder.words));
    }
}

// A name says little: its tool tip in the list does, and the line below the list where it is chosen.
void LadderPage::describeItem(int at, const QString& words) {
    m_what->setItemData(at, words, kWordsRole);
    m_what->setItemData(at, "<p>" + words.toHtmlEscaped() + "</p>", Qt::ToolTipRole);
}

void LadderPage::setFile(const QString& path) {
    int at = m_what->findData(path);
    if (at < 0) {
        const QFileInfo file(path);
        QString name = "Ladder of " + file.fileName();
        if (m_what->findText(name) >= 0) name += " in " + file.dir().dirName();  // the tooltip has all of it
        m_what->addItem(name, path);
        at = m_what->count() - 1;
        describeItem(at, path);
    }
    if (at == m_what->currentIndex()) {
        Q_EMIT edited();  // chosen again: it may say something else by now
        return;
    }
    m_what->setCurrentIndex(at);
}

LadderQuestion LadderPage::question() const {
    const QString chosen = m_what->currentData().toString();
    return {.search = chosen.isEmpty(),
            .ladder = chosen.toStdString(),
            .minutes = m_minutes->value(),
            .leaveOneOut = m_leaveOneOut->isChecked(),
            .pairs = m_pairs->isChecked(),
            .sizes = m_sizes->isChecked(),
            .delta = numberOf(kEqual) / 100,
            .seed = static_cast<std::int64_t>(numberOf(kSeed)),
            .memoryGb = numberOf(kMemory)};
}

double LadderPage::numberOf(std::size_t place) const {
    const Number& number = m_numbers[place];
    const auto parsed = parseValue(number.range, number.key, number.edit->text().toStdString());
    const double* real = parsed ? std::get_if<double>(&*parsed) : nullptr;
    const std::int64_t* whole = parsed ? std::get_if<std::int64_t>(&*parsed) : nullptr;
    return real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : number.good;
}

QString LadderPage::wrongNumber() const {
    const bool search = m_what->currentData().toString().isEmpty();
    for (std::size_t place = 0; place < m_numbers.size(); ++place) {
        if (place == kMemory && !search) continue;
        const Number& number = m_numbers[place];
        const auto parsed = parseValue(number.range, number.edit->accessibleName().toStdString(), number.edit->text().toStdString());
        if (!parsed) return QString::fromStdString(parsed.error().sentence);
    }
    if (const double gigabytes = numberOf(kMemory); search && gigabytes > 0 && gigabytes < kLeastGigabytes)
        return QString("Memory, GB takes 0, which bounds nothing, or a number from %1 on.").arg(kLeastGigabytes);
    return {};
}

void LadderPage::setQuestion(const LadderQuestion& question) {
    if (question.search)
        m_what->setCurrentIndex(0);
    else if (const int at = m_what->findData(QString::fromStdString(question.ladder)); at >= 0)
        m_what->setCurrentIndex(at);
    else
        setFile(QString::fromStdString(question.ladder));
    m_minutes->setValue(question.minutes);
    m_leaveOneOut->setChecked(question.leaveOneOut);
    m_pairs->setChecked(question.pairs);
    m_sizes->setChecked(question.sizes);
    const std::pair<std::size_t, double> values[] = {
        {kEqual, question.delta * 100}, {kSeed, static_cast<double>(question.seed)}, {kMemory, question.memoryGb}};
    for (const auto& [place, value] : values) {
        Number& number = m_numbers.at(place);
        number.good = value;
        number.edit->setText(QString::number(value, 'g', 13));
    }
    showButtons();
    Q_EMIT edited();
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
    const bool search = m_what->currentData().toString().isEmpty(), free = m_busy == LadderBusy::Free;
    m_described->setText(m_what->currentData(kWordsRole).toString());
    m_leaveOneOut->setVisible(!search);
    m_pairs->setVisible(!search);
    m_sizes->setVisible(search);
    m_memory->setVisible(search);
    const QString number = wrongNumber();
    const bool problem = m_problem || !number.isEmpty();
    m_minutes->setSpecialValueText(search ? "the usual 5 min" : "as long as it needs");
    m_measure->setEnabled(free && !problem);
    // In sight as on the pages Compare and Diagnose: a button that is grey says nothing by itself.
    const QString waits = m_busy == LadderBusy::Training ? QString(kLadderWaits) + ". Times beside it would mean nothing."
                          : m_busy == LadderBusy::Taken  ? m_why
                          // What this page measures itself is told below.
                          : m_busy == LadderBusy::Measuring && !m_view.live ? QString(kOtherMeasured) + "."
                          : m_busy == LadderBusy::NoEngine && number.isEmpty() && m_foretold.isEmpty()
                              ? QString("This machine is still being looked at…")
                              : QString();
    m_forecast->setTone(problem && waits.isEmpty() ? Tone::Warning : Tone::Muted);
    m_forecast->setText(!waits.isEmpty() ? waits : number.isEmpty() ? m_foretold : number);
    m_measure->setToolTip(free                              ? (problem ? m_forecast->text() : QString("Begins"))
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
        const QString time = QString::fromStdString(format::duration(TimeNs::fromSeconds(std::max(0.0, m_view.elapsed))));
        if (m_view.stopping)
            progress = "stopping";
        else if (history.began() && search)
            progress = QString("%1 · %2 racing, %3 rejected").arg(time).arg(count(study::kRunning)).arg(count(study::kRejected));
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

QString LadderPage::described() const {
    return m_described->text();
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
QString LadderPage::forecast() const {
    return m_forecast->text();
}

}  // namespace stepscope
