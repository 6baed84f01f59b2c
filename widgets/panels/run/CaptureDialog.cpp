#include "widgets/panels/run/CaptureDialog.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include "core/analysis/captures/CaptureSentence.h"
#include "core/base/Format.h"
#include "core/events/Command.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr const char* kNotYet = "not measured yet";
constexpr int kUsualSteps = 3;  // enough for a share that does not change from step to step

QStringList rowOf(const CapturedOperation& row, double steps, double all) {
    const double share = all > 0 ? 100 * static_cast<double>(row.self.ns) / all : kUnknown;
    return {words(row.name),
            words(row.kind),
            words(row.phase),
            words(row.role),
            words(format::significant(static_cast<double>(row.runs) / steps)),
            words(format::milliseconds(row.self.milliseconds() / steps)),
            std::isfinite(share) ? QString("%1 %").arg(share, 0, 'f', 1) : QString("–")};
}

}  // namespace

CaptureDialog::CaptureDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle("Capture steps");
    m_steps = new QSpinBox;
    m_steps->setRange(1, static_cast<int>(kMostCapturedSteps));
    m_steps->setValue(kUsualSteps);
    m_steps->setAccessibleName("Steps to capture");
    m_capture = new QPushButton("Capture");
    m_capture->setDefault(true);
    m_slowest = new QCheckBox("Keep the slowest steps of this run");
    m_slowest->setToolTip(
        "Every step is observed from here on, which costs what a capture costs, and no comparison uses these steps. Those slower than 99 in 100 of "
        "the 1 000 before them are kept, the 20 slowest at most, each with its neighbours: operations, memory, counters and, on a GPU, kernels. They "
        "are stored when this is switched off or the run ends. The log says what it cost.");
    m_slowestCost = new QLabel;
    m_slowestCost->setAccessibleName("What keeping the slowest costs");
    m_levels = sentenceLabel(Tone::Muted);
    m_levels->setAccessibleName("What each level of observing costs");
    m_levels->setToolTip(
        "L0 and L1 are always recorded: what that takes the trainer is measured when a capture ends. L2 is a capture: how much longer its steps took "
        "than those around it that nothing disturbed, the middle of all ratios of one and the other, with its interval.");
    struct Field {
        const char *label, *name, *tip;
        std::int64_t least, most, usual;
    };
    static constexpr std::array kFields{
        Field{"wait", "Steps to wait", "Steps that run as always before each round", 0, kMostScheduledSteps, 20},
        Field{"warm up", "Steps to warm up", "Steps that are observed and not kept, so that what is made once is not in the way", 0,
              kMostCapturedSteps, 2},
        Field{"record", "Steps to record", "Steps of each round that are recorded (active)", 1, kMostCapturedSteps, kUsualSteps},
        Field{"rounds", "Rounds", "How often all this is done (repeat)", 1, static_cast<std::int64_t>(kMostCaptureRounds), 2}};
    auto* fields = new QHBoxLayout;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
        const Field& field = kFields[i];
        m_rounds[i] = new QSpinBox;
        m_rounds[i]->setRange(static_cast<int>(field.least), static_cast<int>(field.most));
        m_rounds[i]->setValue(static_cast<int>(field.usual));
        m_rounds[i]->setAccessibleName(field.name);
        m_rounds[i]->setToolTip(field.tip);
        auto* label = new QLabel(field.label);
        label->setBuddy(m_rounds[i]);
        fields->addWidget(label);
        fields->addWidget(m_rounds[i]);
        fields->addSpacing(space(1));
    }
    m_rounds[0]->setMaximumWidth(m_rounds[0]->fontMetrics().averageCharWidth() * 19);
    m_repeat = new QPushButton("Capture by schedule");
    m_repeat->setAutoDefault(false);
    m_repeat->setToolTip(
        "Over and over: waits, warms up, records; as train --profile wait=20,warmup=2,active=3,repeat=2 does from the first step on");
    fields->addStretch();
    fields->addWidget(m_repeat);
    m_sentence = sentenceLabel(Tone::Muted);
    m_sentence->setAccessibleName("What the capture saw");
    m_end = new QPushButton("End capture");
    m_end->setAutoDefault(false);
    m_end->setToolTip("No more of the steps that were asked for are captured. What is captured so far is kept, and the run goes on.");

    m_table = new QTableWidget;
    const QStringList heads{"operation", "kind", "phase", "role", "calls a step", "time a step", "share"};
    m_table->setColumnCount(static_cast<int>(heads.size()));
    m_table->setHorizontalHeaderLabels(heads);
    m_table->horizontalHeaderItem(4)->setToolTip(
        "How often it was called. Calls that hand on work, and no others, are the operations a step of charts.");
    m_table->horizontalHeaderItem(5)->setToolTip("Its own time without what it called");
    m_table->setAccessibleName("Operations of the captured steps, most time of their own first");
    styleRows(*m_table);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    // Names as long as they are would push what they took out of sight.
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_table->setTextElideMode(Qt::ElideMiddle);

    auto* head = new QHBoxLayout;
    head->addWidget(new QLabel("Capture what runs in the next"));
    head->addWidget(m_steps);
    head->addWidget(new QLabel("steps of the run."));
    head->addStretch();
    head->addWidget(m_capture);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    layout->addLayout(fields);
    auto* slowest = new QHBoxLayout;
    slowest->addWidget(m_slowest);
    slowest->addWidget(m_slowestCost);
    slowest->addStretch();
    slowest->addWidget(m_end);
    layout->addLayout(slowest);
    layout->addWidget(m_levels);
    layout->addWidget(m_sentence);
    layout->addWidget(m_table, 1);
    resize(720, 460);
    connect(m_capture, &QPushButton::clicked, this, &CaptureDialog::ask);
    connect(m_repeat, &QPushButton::clicked, this, &CaptureDialog::askRounds);
    connect(m_slowest, &QCheckBox::clicked, this, &CaptureDialog::slowestRequested);
    connect(m_end, &QPushButton::clicked, this, &CaptureDialog::end);
    setLevels({});
    showState();
}

void CaptureDialog::open() {
    QDialog::show();
    raise();
    activateWindow();
    m_steps->setFocus();
    m_steps->selectAll();
}

void CaptureDialog::ask() {
    if (!m_ready || m_waiting) return;
    m_waiting = true;
    showState();
    Q_EMIT captureRequested(m_steps->value());
}

ProfileSchedule CaptureDialog::schedule() const {
    return {.wait = m_rounds[0]->value(), .warmup = m_rounds[1]->value(), .active = m_rounds[2]->value(), .repeat = m_rounds[3]->value()};
}

void CaptureDialog::askRounds() {
    if (m_ready && !m_waiting) Q_EMIT scheduleRequested(schedule());
}

// Whatever the run has of it comes as a result; where it has nothing, nothing comes.
void CaptureDialog::end() {
    if (!m_waiting) return;
    m_toCome.clear();
    m_waiting = false;
    showState();
    m_sentence->setText("Ended: no more of these steps are captured, and what was captured of them is kept.");
    Q_EMIT endRequested();
}

void CaptureDialog::setLevels(const LevelCosts& levels) {
    QStringList lines{"What observing costs, measured in this run:"};
    for (const LevelWords& one : levelWords(levels, kNotYet)) lines << QString("%1 %2: %3").arg(words(one.level), words(one.what), words(one.cost));
    m_levels->setText(lines.join('\n'));
    const std::string each = costText(levels.capture);
    m_slowestCost->setText(each.empty() ? QString("L2 at every step: not measured yet, a capture measures it")
                                        : QString("L2 at every step: %1").arg(words(each)));
}

QString CaptureDialog::levels() const {
    return m_levels->text();
}

void CaptureDialog::setRounds(const std::vector<Capture>& rounds) {
    m_toCome = rounds;
    m_waiting = !rounds.empty();
    showState();
}

// Which of several rounds it is about it does not say; those that were taken all the same come as results.
void CaptureDialog::setRefused(const QString& sentence) {
    if (!m_waiting) return;
    m_toCome.clear();
    m_waiting = false;
    setProblem(sentence);
}

void CaptureDialog::setProblem(const QString& sentence) {
    showState();
    m_sentence->setTone(Tone::Error);
    m_sentence->setText(sentence);
}

QString CaptureDialog::roundsText() const {
    const Capture& next = m_toCome.front();
    const auto steps = [](const Capture& one) {
        const QString first = words(format::count(one.firstStep));
        return one.steps == 1 ? "step " + first : QString("steps %1 to %2").arg(first, words(format::count(one.firstStep + one.steps - 1)));
    };
    if (m_toCome.size() == 1) return QString("To come: %1.").arg(steps(next));
    return QString("%1 rounds to come: %2 next, %3 last.")
        .arg(words(format::count(static_cast<std::int64_t>(m_toCome.size()))), steps(next), steps(m_toCome.back()));
}

void CaptureDialog::setReady(bool ready) {
    if (ready == m_ready) return;
    m_ready = ready;
    const bool lost = !ready && m_waiting;
    const auto missing = static_cast<std::int64_t>(m_toCome.size());
    m_toCome.clear();
    m_waiting = m_waiting && ready;
    m_slowest->setChecked(false);  // a run ends it, and the next one begins without
    showState();
    if (lost && missing > 0)
        m_sentence->setText(QString("The run has ended with %1 of the rounds still to come.").arg(words(format::count(missing))));
    else if (lost)
        m_sentence->setText("The run has ended before a step was captured.");
}

void CaptureDialog::showState() {
    m_capture->setEnabled(m_ready && !m_waiting);
    m_steps->setEnabled(m_ready && !m_waiting);
    m_repeat->setEnabled(m_ready && !m_waiting);
    for (QSpinBox* field : m_rounds) field->setEnabled(m_ready && !m_waiting);
    m_sentence->setTone(Tone::Muted);
    m_slowest->setEnabled(m_ready);
    m_end->setEnabled(m_waiting);
    if (m_waiting && !m_toCome.empty())
        m_sentence->setText(roundsText() + " A captured step takes longer than others, and is left out where steps are compared.");
    else if (m_waiting)
        m_sentence->setText("Waiting for the steps. A captured step takes longer than others, and is left out where steps are compared.");
    else if (m_table->rowCount() == 0)
        m_sentence->setText(m_ready ? QString("Every operation that runs meanwhile is counted and timed.")
                                    : QString("There is no run to capture: start one first."));
}

void CaptureDialog::setResult(const CaptureDone& capture) {
    // A round that the run heard of late is made later, one that it refused never; a capture of the slowest steps may lie before all of them.
    std::erase_if(m_toCome, [&](const Capture& round) { return round.firstStep <= capture.firstStep; });
    m_waiting = !m_toCome.empty();
    showState();
    QString sentence = words(captureSentence(capture));
    if (capture.leftOut > 0) sentence += QString(" %1 more kinds with less time are left out.").arg(words(format::count(capture.leftOut)));
    if (!m_toCome.empty()) sentence += ' ' + roundsText();
    m_sentence->setText(sentence);
    static const std::vector<CapturedOperation> none;
    const auto& rows = capture.rows ? *capture.rows : none;
    double all = 0;
    for (const auto& row : rows) all += static_cast<double>(row.self.ns);
    m_table->setRowCount(static_cast<int>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const QStringList cells = rowOf(rows[i], static_cast<double>(std::max<std::int64_t>(1, capture.steps)), all);
        for (int column = 0; column < cells.size(); ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            if (column == 0) item->setToolTip(plainTip(cells[column]));
            if (column > 3) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(static_cast<int>(i), column, item);
        }
    }
}

QString CaptureDialog::sentence() const {
    return m_sentence->text();
}

}  // namespace stepscope
