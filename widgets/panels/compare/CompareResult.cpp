#include "widgets/panels/compare/CompareResult.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"
#include "core/events/Presets.h"
#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ReportDialog.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/compare/CompareFacts.h"
#include "widgets/panels/compare/EarlierAnswers.h"
#include "widgets/panels/compare/MemoryBars.h"
#include "widgets/panels/compare/PairReplay.h"
#include "widgets/panels/compare/WhyPane.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/LockedTimelines.h"

namespace stepscope {
namespace {

constexpr int kFoldBelow = 720;   // narrower, the table stands below the chart
constexpr int kLinesBelow = 640;  // narrower, sentences take more lines

QString minutesText(double seconds) {
    return asText(format::duration(TimeNs::fromSeconds(std::max(0.0, seconds))));
}

QPushButton* actionButton(const char* text, const char* icon) {
    auto* made = new QPushButton(text);
    made->setIcon(lineIcon(icon));
    made->setAutoDefault(false);
    return made;
}

}  // namespace

CompareResult::CompareResult(QWidget* parent) : QScrollArea(parent) {
    m_view.history = std::make_shared<const ExperimentHistory>();
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);  // its parts wrap; under a very large font one may need more all the same
    setFocusPolicy(Qt::NoFocus);
    auto* inside = new QWidget;
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(space(3), space(2), space(3), space(3));
    layout->setSpacing(space(2));
    layout->addWidget(buildHead());
    layout->addWidget(buildVerdict());
    m_replay = new PairReplay;
    layout->addWidget(m_replay);
    m_chart = new RatioChart;
    m_facts = new CompareFacts;
    m_middle = new QHBoxLayout;
    m_middle->setSpacing(space(3));
    m_middle->addWidget(m_chart, 3);
    m_middle->addWidget(m_facts, 2, Qt::AlignTop);
    layout->addLayout(m_middle, 1);
    m_memory = new MemoryBars;
    layout->addWidget(m_memory);
    m_reasons = new WhyPane;
    layout->addWidget(m_reasons);
    m_timelines = new LockedTimelines;
    m_timelines->hide();
    layout->addWidget(m_timelines);
    layout->addWidget(buildActions());
    m_notes = sentenceLabel(Tone::Muted);
    m_notes->setAccessibleName("What is compared");
    layout->addWidget(m_notes);
    m_earlier = new EarlierAnswers;
    layout->addWidget(m_earlier);
    setWidget(inside);
    connect(m_reasons, &WhyPane::placeChosen, this, [this] { QTimer::singleShot(0, this, [this] { ensureWidgetVisible(m_timelines, 0, 0); }); });
    connect(m_replay, &PairReplay::moved, this, &CompareResult::showThen);
    connect(m_earlier, &EarlierAnswers::chosen, this, &CompareResult::earlierRequested);
    setView(m_view);
}

QWidget* CompareResult::buildHead() {
    auto* head = new QWidget;
    m_question = new ElidedLabel(Tone::Normal);
    m_question->setFont(headFont(m_question->font()));
    m_question->setAccessibleName("Question");
    m_which = new QComboBox;
    m_which->setAccessibleName("Which of the session's measurements");
    m_which->setToolTip("This session holds several measurements; the one that is chosen here is shown, and is what Report… tells of");
    m_which->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_which->setMinimumContentsLength(20);
    m_which->hide();
    connect(m_which, &QComboBox::activated, this, [this](int index) { Q_EMIT experimentChosen(index + 1); });
    m_sides = new ElidedLabel(Tone::Muted);
    m_progress = new ElidedLabel(Tone::Muted);
    m_progress->setAccessibleName("How far it is");
    m_bar = new QProgressBar;
    m_bar->setTextVisible(false);
    m_bar->setRange(0, 1000);
    m_bar->setFixedHeight(6);
    m_bar->setAccessibleName("Time against the budget");
    auto* layout = new QVBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    auto* first = new QHBoxLayout;
    first->setSpacing(space(2));
    first->addWidget(m_question, 1);
    first->addWidget(m_which, 1);
    layout->addLayout(first);
    layout->addWidget(m_sides);
    layout->addWidget(m_progress);
    layout->addWidget(m_bar);
    return head;
}

QWidget* CompareResult::buildVerdict() {
    auto* card = new QFrame;
    card->setFrameShape(QFrame::StyledPanel);
    card->setBackgroundRole(QPalette::Base);
    card->setAutoFillBackground(true);
    m_verdict = new ElidedLabel(Tone::Normal);
    QFont large = headFont(m_verdict->font());
    large.setPointSizeF(large.pointSizeF() * 1.25);
    m_verdict->setFont(large);
    m_verdict->setAccessibleName("Verdict");
    m_why = new ElidedLabel(Tone::Normal, 2);
    m_why->setAccessibleName("Why");
    m_basis = new ElidedLabel(Tone::Muted, 2);
    m_basis->setAccessibleName("What it rests on");
    m_method = new ElidedLabel(Tone::Muted, 2);
    m_method->setAccessibleName("Method");
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(space(3), space(2), space(3), space(2));
    layout->setSpacing(2);
    for (ElidedLabel* line : {m_verdict, m_why, m_basis, m_method}) layout->addWidget(line);
    return card;
}

QWidget* CompareResult::buildActions() {
    m_stop = actionButton("Stop", "stop");
    m_stop->setToolTip("Ends it and keeps what is known");
    m_repeat = actionButton("Repeat", "again");
    m_use = actionButton("Use B's settings", "undo");
    m_use->setToolTip("Puts the settings of side B into the panel at the left");
    m_report = actionButton("Report…", "export");
    m_report->setToolTip("A page to keep or to send: question, verdict, every pair, this machine, and how to ask it again");
    m_ask = actionButton("Ask something else", "note");
    m_elsewhere = actionButton("On another preset", "again");
    m_elsewhere->setToolTip("Same question on another preset: its settings come into the panel at the left, these two values into the form");
    m_elsewhere->setAccessibleName("Same question on another preset");
    m_presets = new QMenu(m_elsewhere);
    m_presets->setToolTipsVisible(true);
    for (const Preset& preset : presets()) {
        QAction* entry = m_presets->addAction(asText(preset.title.empty() ? preset.id : preset.title));
        entry->setData(asText(preset.id));
        entry->setToolTip(asText(preset.summary));
        connect(entry, &QAction::triggered, this, [this, id = asText(preset.id)] { Q_EMIT presetRequested(id); });
    }
    m_elsewhere->setMenu(m_presets);
    m_guide = new TitleButton("How measuring works");
    m_guide->setLink(true);
    m_guide->setFocusPolicy(Qt::TabFocus);
    auto* all = new QWidget;
    auto* layout = new FlowLayout(all);
    for (QPushButton* one : {m_stop, m_repeat, m_use, m_report, m_ask, m_elsewhere}) layout->addWidget(one);
    layout->addWidget(m_guide);
    connect(m_stop, &QPushButton::clicked, this, &CompareResult::stopRequested);
    connect(m_repeat, &QPushButton::clicked, this, &CompareResult::repeatRequested);
    connect(m_use, &QPushButton::clicked, this, &CompareResult::useRequested);
    connect(m_report, &QPushButton::clicked, this, &CompareResult::chooseReport);
    connect(m_ask, &QPushButton::clicked, this, &CompareResult::askRequested);
    connect(m_guide, &TitleButton::clicked, this, &CompareResult::guideRequested);
    return all;
}

void CompareResult::chooseReport() {
    connect(openReportDialog(this, "Report of the experiment"), &QFileDialog::fileSelected, this, &CompareResult::reportRequested);
}

// A machine beside itself differs in nothing that another preset could have too.
void CompareResult::showPresets() {
    m_elsewhere->setEnabled(m_view.canUse && !m_view.history->began().value_or(ExperimentBegan{}).same);
    for (QAction* entry : m_presets->actions()) entry->setEnabled(entry->data().toString() != m_view.preset);
}

void CompareResult::setRepeatable(bool can) {
    m_repeatable = can;
    m_repeat->setEnabled(can && !m_view.live && m_view.history->began().has_value());
    nameRepeat();
}

// What could not be decided is not asked again with the time that did not decide it. The button keeps its width, so that nothing moves.
void CompareResult::nameRepeat() {
    const ExperimentHistory& history = *m_view.history;
    const bool longer = history.began() && history.secondsToAskAgain() > history.began()->budgetSeconds;
    m_repeat->setText(m_narrow ? "Longer" : "Measure longer");
    m_repeat->setMinimumWidth(m_repeat->sizeHint().width());
    if (!longer) m_repeat->setText("Repeat");
    m_repeat->setToolTip(longer ? QString("Asks the same again with %1, which its pairs say would decide it, and the next seed")
                                      .arg(minutesText(history.secondsToAskAgain()))
                                : QString("Asks the same again, with the next seed"));
}

void CompareResult::setView(const CompareView& view) {
    m_view = view;
    const ExperimentHistory& history = *view.history;
    const double delta = history.began() ? history.began()->delta : 0.01;
    m_names = armNames(history.began().value_or(ExperimentBegan{}));
    m_question->setText(view.title.isEmpty() ? QString("An experiment") : view.title);
    showSides();
    showWhich();
    showProgress();
    using Stage = CompareView::Stage;
    const bool ended = view.stage == Stage::Over || view.stage == Stage::CutOff || view.stage == Stage::Failed;
    m_replay->setExperiment(view.history, !view.live && ended);
    showThen();
    m_memory->setSides(m_view.memoryA, m_view.memoryB);
    m_reasons->setResult(m_view.live ? WaterfallResult() : history.why());
    QStringList notes;
    if (history.newest() && history.newest()->over) notes << asText(foretoldSentence(view.foretold, view.foretoldBasis, *history.newest()));
    if (history.began()) notes << asText(history.began()->comparison);
    if (history.newest()) notes << asText(equalTimeSentence(*history.newest(), m_names));
    if (history.newest() && history.newest()->over) notes << asText(meansSentence(*history.newest(), history.speedRatio(), delta));
    if (history.newest() && history.newest()->over) notes << asText(machineSentence(history.machineMeanwhile()));
    notes.removeAll(QString());
    m_notes->setText(notes.join(' '));
    m_notes->setVisible(!m_notes->text().isEmpty());
    m_earlier->setAnswers(view.earlier, view.earlierCount);
    m_stop->setEnabled(view.live && !view.stopping);
    m_use->setEnabled(view.canUse);
    showPresets();
    m_report->setEnabled(history.began().has_value());
    setRepeatable(m_repeatable);
}

// What was captured and learnt behind the last pair stays as it is: it belongs to none of them.
void CompareResult::showThen() {
    if (m_replay->atEnd()) {
        showVerdict();
        showPairs(*m_view.history);
        return;
    }
    const ExperimentHistory then = m_view.history->after(m_replay->pairs());
    showVerdictThen(then);
    showPairs(then);
}

void CompareResult::showPairs(const ExperimentHistory& history) {
    std::vector<RatioPair> pairs;
    for (const ExperimentJudged& pair : history.pairs())
        pairs.push_back({std::exp(pair.difference), pair.discarded, pair.pair, pair.rebuild, pair.low, pair.high});
    m_chart->setPairs(std::move(pairs), history.began() ? history.began()->delta : 0.01);
    m_facts->setFacts(history.facts(Arm::A), history.facts(Arm::B), history.lossDifference(), asText(history.whyNoLoss()), m_view.whyNoEnergy);
}

// A stays blue and B vermilion; the letters say it as well.
void CompareResult::showSides() {
    const bool same = m_view.history->began() && m_view.history->began()->same;
    const QString a = "A: " + m_view.settingsA, b = "B: " + m_view.settingsB, gap = "   ";
    const QString rest = m_view.sameKeys > 0 ? gap + QString("all else alike (%1 settings)").arg(m_view.sameKeys) : QString();
    m_sides->setText(same ? QString("A and B are the same settings: what differs is this machine's doing") : a + gap + b + rest);
    m_sides->setTints(same ? std::vector<ElidedLabel::Tint>()
                           : std::vector<ElidedLabel::Tint>{{0, a.size(), SeriesRole::A}, {a.size() + gap.size(), b.size(), SeriesRole::B}});
    m_sides->setVisible(!m_view.settingsA.isEmpty() || same);
}

// Rebuilt only where it differs: what is open under the mouse stays.
void CompareResult::showWhich() {
    QStringList shown;
    for (int i = 0; i < m_which->count(); ++i) shown << m_which->itemText(i);
    if (shown != m_view.which) {
        m_which->clear();
        m_which->addItems(m_view.which);
    }
    m_which->setCurrentIndex(m_view.number - 1);
    m_which->setVisible(m_view.which.size() > 1);
}

void CompareResult::showProgress() {
    using Stage = CompareView::Stage;
    const ExperimentHistory& history = *m_view.history;
    const double budget = history.began() ? history.began()->budgetSeconds : 0;
    const bool decided = history.began() && history.newest() && history.newest()->over;
    const double seconds = m_view.live ? m_view.elapsed : history.newest() ? history.newest()->seconds : 0;
    QString said;
    switch (m_view.stage) {
        case Stage::Data:
            said = m_view.doing.isEmpty() ? QString("being prepared") : m_view.doing;
            break;
        case Stage::Pilot:
            said = "first a pilot, which does not count: it finds out how long a turn must be and how much the times vary";
            break;
        case Stage::Pairs:
            if (!m_view.doing.isEmpty())
                said = m_view.doing;
            else
                said = decided ? QString("the verdict stands") : QString("pair %1").arg(history.pairs().size() + 1);
            break;
        case Stage::Over:
            said = QString("measured in %1").arg(minutesText(history.measuringSeconds()));
            if (seconds - history.measuringSeconds() >= 1) said += QString(", %1 with what came behind it").arg(minutesText(seconds));
            break;
        case Stage::CutOff:
            said = "cut off in the middle: its program ended";
            break;
        case Stage::Failed:
            said = "could not be measured";
            break;
    }
    if (m_view.stopping && m_view.live) said = "stopping: what is known is kept";
    // What is captured behind the verdict is within the budget; losses at equal time were asked for beyond it.
    const bool beside = m_view.stage == Stage::Pairs && !m_view.doing.isEmpty() && (!decided || history.began()->lossSeconds > 0);
    const bool counts = m_view.live && budget > 0 && m_view.stage != Stage::Over && !beside;
    if (counts) said = minutesText(seconds) + " of at most " + minutesText(budget) + " · " + said;
    if (!m_view.source.isEmpty()) said += " · " + m_view.source;
    m_progress->setText(said);
    m_bar->setValue(m_view.stage == Stage::Over ? 1000 : budget > 0 ? static_cast<int>(std::clamp(seconds / budget, 0.0, 1.0) * 1000) : 0);
}

void CompareResult::showVerdict() {
    using Stage = CompareView::Stage;
    const ExperimentHistory& history = *m_view.history;
    const double delta = history.began() ? history.began()->delta : 0.01;
    const auto& judged = history.newest();
    const bool over = judged && judged->over;
    const QString headline = over ? asText(verdictHeadline(*judged, delta, m_names)) : QString();
    // What failed after the answer was found does not take it back.
    const bool answered = over && judged->outcome != toString(PairedOutcome::Inconclusive);
    m_why->setTone(m_view.stage == Stage::Failed ? Tone::Error : Tone::Normal);
    if (m_view.stage == Stage::Failed && answered) {
        m_verdict->setText(headline);
        m_why->setText(asText(judged->why) + (judged->why.empty() || m_view.doing.isEmpty() ? "" : " ") + m_view.doing);
    } else if (m_view.stage == Stage::Failed) {
        m_verdict->setText("No answer");
        m_why->setText(m_view.doing);
    } else if (over || (judged && m_view.stage == Stage::CutOff)) {
        m_verdict->setText(over ? headline : "No verdict: it was cut off");
        m_why->setText(over ? asText(judged->why)
                            : QString("What it had measured by then is below; after %1 pairs it stood at %2.")
                                  .arg(judged->pairs)
                                  .arg(asText(judgedWords(*judged, delta))));
    } else if (judged && std::isfinite(judged->ratio)) {
        m_verdict->setText("Not decided yet");
        m_why->setText(asText(undecidedSentence(*judged, (history.began() ? history.began()->budgetSeconds : 0) - judged->seconds)));
    } else {
        m_verdict->setText(m_view.live ? "Not decided yet" : m_view.stage == Stage::CutOff ? "No verdict: it was cut off" : "No answer");
        m_why->setText(m_view.live ? "Please leave this machine to it: what else runs here makes it take longer."
                                   : QString("It ended before a pair was made."));
    }
    showBasis(history);
}

void CompareResult::showVerdictThen(const ExperimentHistory& then) {
    const double delta = then.began() ? then.began()->delta : 0.01;
    const auto& judged = then.newest();
    m_why->setTone(Tone::Normal);
    if (judged) {
        const JudgedParts words = judgedParts(*judged, delta);
        m_verdict->setText(QString("After pair %1: %2")
                               .arg(then.pairs().size())
                               .arg(asText(words.interval.empty() ? words.verdict : verdictHeadline(*judged, delta, m_names))));
        m_why->setText(asText(judged->why));
    } else {
        m_verdict->setText("Before the first pair");
        m_why->setText("Nothing was known yet but how long a turn must be and how much pairs scatter.");
    }
    showBasis(then);
}

void CompareResult::showBasis(const ExperimentHistory& history) {
    const double delta = history.began() ? history.began()->delta : 0.01;
    const double level = history.began() ? (1 - history.began()->alpha) * 100 : 95;
    const auto& judged = history.newest();
    QString basis;
    if (judged && std::isfinite(judged->ratio)) {
        basis = QString("time of A ÷ time of B %1").arg(judged->ratio, 0, 'f', 3);
        if (judged->low > 0 && std::isfinite(judged->high))
            basis += QString(" [%1, %2] at %3 %").arg(judged->low, 0, 'f', 3).arg(judged->high, 0, 'f', 3).arg(level, 0, 'g', 3);
        basis += QString(" · %1 pair%2").arg(judged->pairs).arg(judged->pairs == 1 ? "" : "s");
        if (judged->left > 0) basis += QString(", %1 left out").arg(judged->left);
        if (judged->rebuilds > 0)
            basis +=
                QString(" · both programs built again %1").arg(judged->rebuilds == 1 ? QString("once") : QString("%1 times").arg(judged->rebuilds));
        basis += QString(" · floor, a side beside itself: ") + (std::isfinite(judged->floor) || judged->over
                                                                    ? QString::fromStdString(floorWords(judged->floor, history.sameArmPairs()))
                                                                    : QString("not known yet"));
        if (judged->over)
            if (const std::string advice = floorAdvice(judged->floor, judged->ratio, judged->outcome); !advice.empty())
                basis += "." + QString::fromStdString(advice);
    }
    m_basis->setText(basis);
    // How pairs are judged is of use to nobody before there is one; its place is kept.
    m_method->setText(
        history.pairs().empty()
            ? QString()
            : QString("Method: turns ordered by a coin (seed %1); a self-normalised confidence sequence on log(A ÷ B)%2; Student's t over the "
                      "rebuilds. Equal: ±%3 %.")
                  .arg(history.began() ? history.began()->seed : 1)
                  .arg(!history.began() || history.began()->finalLook ? ", one look by Student's t at the end" : "")
                  .arg(delta * 100, 0, 'g', 3));
}

void CompareResult::fold() {
    const bool narrow = viewport()->width() < kFoldBelow;
    m_middle->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_chart->setMinimumHeight(narrow ? 170 : 200);
    m_reasons->setNarrow(narrow);
    // What fits into so many lines of a wide page needs as many more of a narrow one.
    const bool least = viewport()->width() < kLinesBelow;
    m_verdict->setLines(narrow ? 2 : 1);  // its two sides by name, and the interval at its end
    m_sides->setLines(least ? 2 : 1);
    m_progress->setLines(least ? 2 : 1);
    for (ElidedLabel* line : {m_why, m_basis, m_method}) line->setLines(least ? 4 : 2);
    m_guide->setVisible(!narrow);
    m_narrow = narrow;
    nameRepeat();
    m_use->setText(narrow ? "Use B" : "Use B's settings");
    m_ask->setText(narrow ? "Ask anew" : "Ask something else");
}

void CompareResult::resizeEvent(QResizeEvent* event) {
    QScrollArea::resizeEvent(event);
    fold();
}

void CompareResult::changeEvent(QEvent* event) {
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_view.history != nullptr) showSides();
}

QString CompareResult::verdict() const {
    return m_verdict->text();
}
QString CompareResult::why() const {
    return m_why->text();
}
QString CompareResult::basis() const {
    return m_basis->text();
}
QString CompareResult::progress() const {
    return m_progress->text();
}

}  // namespace stepscope
