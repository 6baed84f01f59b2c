#include "widgets/panels/compare/CompareForm.h"

#include <QCheckBox>
#include <QEvent>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FoldingRow.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/compare/DifferenceRow.h"
#include "widgets/panels/compare/EarlierAnswers.h"
#include "widgets/panels/compare/StartChooser.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

// The bounds are those of ExperimentRequest (app/workbench/Workbench.h); of the least minutes, five seconds, as a number that a person can type.
constexpr double kLeastSeconds = 5, kLeastMinutes = 0.08, kMostMinutes = 1440, kLeastPercent = 0.05, kMostPercent = 50;

const char* kWhat =
    "Each side gets a program and a model of its own, made alike, and the two take turns: a coin decides who begins each pair of turns, so what "
    "else happens on this machine meets both. It ends by itself as soon as the pairs decide, or when the time is spent, mostly in one to three "
    "minutes; every answer is kept among the sessions.\n"
    "The answer is a sentence such as “amp=bf16 is faster than amp=off by 21 % [19 %, 23 %]”, where the brackets hold the true value in 95 of 100 "
    "such experiments, or “no difference of more than 1 %”, or “inconclusive” with the reason and how many more minutes would decide.";

bool rowsGood(const CompareCheck& check) {
    return std::ranges::all_of(check.rows, &QString::isEmpty);
}

}  // namespace

bool CompareCheck::possible() const {
    return problem.isEmpty() && rowsGood(*this);
}

CompareForm::CompareForm(QWidget* parent) : QScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);  // it fits the smallest window; a large font may need more
    setFocusPolicy(Qt::NoFocus);
    auto* inside = new QWidget;
    auto* layout = new QVBoxLayout(inside);
    layout->setContentsMargins(space(3), space(3), space(3), space(3));
    layout->setSpacing(space(2));

    auto* title = new QLabel("Is B faster than A, here?");
    title->setFont(headFont(title->font()));
    layout->addWidget(title);
    layout->addWidget(sentenceLabel(Tone::Muted, "Both sides start from the settings at the left. They differ in:"));

    m_differences = new QWidget;
    m_rowsLayout = new QVBoxLayout(m_differences);
    m_rowsLayout->setContentsMargins(0, 0, 0, 0);
    m_rowsLayout->setSpacing(0);
    m_add = new QPushButton("Another difference");
    m_same = new QCheckBox("This machine beside itself");
    addRow();
    auto* heads = new QHBoxLayout;
    heads->setSpacing(space(2));
    heads->addStretch(1);
    for (const char* side : {"A", "B"}) {
        auto* head = new QLabel(side);
        head->setFont(headFont(head->font()));
        head->setFixedWidth(DifferenceRow::kEditorWidth);
        heads->addWidget(head);
        m_heads.push_back(head);
    }
    heads->addSpacing(m_rows.front()->removeWidth());
    layout->addLayout(heads);
    layout->addWidget(m_differences);
    m_add->setAccessibleName("Add another difference");
    m_add->setAutoDefault(false);
    m_same->setToolTip("Both sides have the settings at the left: whatever differs then is this machine's doing, not a switch's");
    auto* line = new QHBoxLayout;
    line->setSpacing(space(3));
    line->addWidget(m_add);
    line->addWidget(m_same);
    line->addStretch(1);
    layout->addLayout(line);
    m_start = new StartChooser;
    layout->addWidget(m_start);
    layout->addWidget(buildNumbers());
    layout->addWidget(buildActions());
    m_notes = sentenceLabel(Tone::Muted);
    m_notes->setAccessibleName("What is compared");
    layout->addWidget(m_notes);
    m_earlier = new EarlierAnswers;
    layout->addWidget(m_earlier);
    layout->addSpacing(space(2));
    layout->addWidget(sentenceLabel(Tone::Muted, kWhat));
    m_guide = new TitleButton("How measuring works");
    m_guide->setLink(true);
    m_guide->setFocusPolicy(Qt::TabFocus);
    layout->addWidget(m_guide, 0, Qt::AlignLeft);
    layout->addStretch(1);
    inside->setMaximumWidth(760);
    setWidget(inside);

    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow()->keys()->setFocus();
        Q_EMIT edited();
    });
    connect(m_same, &QCheckBox::toggled, this, [this] {
        showState();
        Q_EMIT edited();
    });
    connect(m_start, &StartChooser::chosen, this, [this] { Q_EMIT edited(); });
    connect(m_earlier, &EarlierAnswers::chosen, this, &CompareForm::earlierRequested);
    connect(m_guide, &TitleButton::clicked, this, &CompareForm::guideRequested);
    renumber();
    tint();
}

// A stays blue and B vermilion, on every page.
void CompareForm::tint() {
    for (std::size_t side = 0; side < m_heads.size(); ++side) {
        QPalette own = m_heads[side]->palette();
        own.setColor(QPalette::WindowText, seriesColour(side == 0 ? SeriesRole::A : SeriesRole::B, isDark(palette())));
        m_heads[side]->setPalette(own);
    }
}

void CompareForm::changeEvent(QEvent* event) {
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) tint();
}

QWidget* CompareForm::buildNumbers() {
    auto* cells = new QWidget;
    auto* layout = new QHBoxLayout(cells);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(2));  // at 1024 pixels each name still has its room
    const auto add = [&](const char* key, const char* name, const char* tooltip, ValueRange range, double value) {
        auto* edit = new NumberEdit;
        edit->setRange(range);
        edit->setText(QString::number(value, 'g', 6));
        edit->setAccessibleName(name);
        edit->setToolTip(tooltip);
        edit->setMaximumWidth(110);
        edit->setMinimumWidth(64);
        auto* label = new ElidedLabel(Tone::Muted);
        label->setText(name);
        label->setMaximumWidth(110);
        auto* cell = new QVBoxLayout;
        cell->setSpacing(2);
        cell->addWidget(label);
        cell->addWidget(edit);
        layout->addLayout(cell, 1);
        connect(edit, &NumberEdit::committed, this, [this] {
            showState();
            Q_EMIT edited();
        });
        m_numbers.push_back({key, range, edit, value});
    };
    add("minutes", "Minutes", "At most, with the steps that are captured to tell why: it ends earlier as soon as the pairs decide",
        RealRange{kLeastMinutes, kMostMinutes}, 3);
    add("equal", "Equal ± %", "A difference of less than this is called no difference", RealRange{kLeastPercent, kMostPercent}, 1);
    add("seed", "Seed", "Of the coins that order the turns. 0 = another one each time", IntegerRange{0, 1'000'000'000'000}, 0);
    add("loss-after", "Loss after, s",
        "Then both are trained for so many seconds with each of 5 seeds, and their validation losses are compared: ten times as many seconds in all, "
        "beyond the minutes. 0 = do not",
        IntegerRange{0, 86'400}, 0);
    layout->addStretch();
    return cells;
}

QWidget* CompareForm::buildActions() {
    auto* all = new QWidget;
    auto* layout = new QVBoxLayout(all);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    m_problem = new ElidedLabel(Tone::Error, 2);  // its place is kept: the buttons below stay where they are
    m_problem->setAccessibleName("Whether it can be measured");
    layout->addWidget(m_problem);
    const auto button = [](const char* text, const char* icon) {
        auto* made = new QPushButton(text);
        made->setIcon(lineIcon(icon));
        made->setAutoDefault(false);
        QSizePolicy keeps = made->sizePolicy();
        keeps.setRetainSizeWhenHidden(true);
        made->setSizePolicy(keeps);
        return made;
    };
    m_measure = button("Measure", "run");
    m_stopRun = button("Stop the run and measure", "stop");
    m_wait = button("Measure when it ends", "to-end");
    m_wait->setCheckable(true);
    auto* first = new QHBoxLayout;
    first->setSpacing(space(2));
    first->addWidget(m_measure);
    first->addWidget(m_wait);
    first->addStretch(0);
    auto* second = new QHBoxLayout;
    second->addWidget(m_stopRun);
    second->addStretch(1);
    layout->addWidget(new FoldingRow(first, second));
    connect(m_measure, &QPushButton::clicked, this, [this] {
        if (m_busy == CompareBusy::Measuring)
            Q_EMIT showRequested();
        else if (canMeasure())
            Q_EMIT measureRequested();
    });
    connect(m_stopRun, &QPushButton::clicked, this, &CompareForm::stopRunRequested);
    connect(m_wait, &QPushButton::clicked, this, &CompareForm::waitRequested);
    return all;
}

DifferenceRow* CompareForm::addRow() {
    auto* row = new DifferenceRow;
    row->setSettings(m_config, m_catalogue);
    m_rows.push_back(row);
    m_rowsLayout->addWidget(row);
    connect(row, &DifferenceRow::edited, this, [this] {
        showState();
        Q_EMIT edited();
    });
    connect(row, &DifferenceRow::removeRequested, this, [this, row] {
        // Not within the click of its own button.
        QMetaObject::invokeMethod(
            this, [this, row] { removeRow(row); }, Qt::QueuedConnection);
    });
    renumber();
    return row;
}

void CompareForm::removeRow(DifferenceRow* row) {
    const auto found = std::ranges::find(m_rows, row);
    if (found == m_rows.end() || m_rows.size() == 1) return;
    const auto at = static_cast<std::size_t>(found - m_rows.begin());
    m_rows.erase(found);
    m_rows[std::min(at, m_rows.size() - 1)]->keys()->setFocus();
    delete row;
    renumber();
    Q_EMIT edited();
}

void CompareForm::renumber() {
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setNumber(static_cast<int>(i) + 1);
        m_rows[i]->setRemovable(m_rows.size() > 1);
    }
    if (m_add->window() == window()) {
        QWidget* last = nullptr;
        for (DifferenceRow* row : m_rows) last = row->chain(last);
        setTabOrder(last, m_add);
    }
    m_add->setEnabled(m_rows.size() < kMostRows && !m_same->isChecked());
}

void CompareForm::setSettings(const RunConfig& config, const SwitchCatalogue& catalogue) {
    m_config = config;
    m_catalogue = catalogue;
    for (DifferenceRow* row : m_rows) row->setSettings(config, catalogue);
}

void CompareForm::setQuestion(const CompareQuestion& question) {
    const QSignalBlocker quiet(m_same);
    while (m_rows.size() > std::max<std::size_t>(1, question.differences.size())) {
        delete m_rows.back();
        m_rows.pop_back();
    }
    while (m_rows.size() < std::min<std::size_t>(kMostRows, question.differences.size())) addRow();
    for (std::size_t i = 0; i < std::min(m_rows.size(), question.differences.size()); ++i) m_rows[i]->setDifference(question.differences[i]);
    m_same->setChecked(question.same);
    m_start->setStart(asText(question.start));
    const double values[] = {question.budgetSeconds / 60, question.delta * 100, static_cast<double>(question.seed), question.lossSeconds};
    for (std::size_t i = 0; i < m_numbers.size(); ++i) {
        m_numbers[i].good = values[i];
        m_numbers[i].edit->setText(QString::number(values[i], 'g', 12));
    }
    renumber();
    showState();
    Q_EMIT edited();
}

CompareQuestion CompareForm::question() const {
    CompareQuestion asked;
    for (const DifferenceRow* row : m_rows) asked.differences.push_back(row->difference());
    asked.same = m_same->isChecked();
    asked.start = m_start->start().toStdString();
    double values[4] = {};
    for (std::size_t i = 0; i < m_numbers.size(); ++i) {
        const auto parsed = parseValue(m_numbers[i].range, m_numbers[i].key, m_numbers[i].edit->text().toStdString());
        const double* real = parsed ? std::get_if<double>(&*parsed) : nullptr;
        const std::int64_t* whole = parsed ? std::get_if<std::int64_t>(&*parsed) : nullptr;
        values[i] = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : m_numbers[i].good;
    }
    asked.budgetSeconds = std::max(values[0] * 60, kLeastSeconds);  // the least minutes are rounded
    asked.delta = values[1] / 100;
    asked.seed = static_cast<std::int64_t>(values[2]);
    asked.lossSeconds = values[3];
    return asked;
}

QString CompareForm::wrongNumber() const {
    for (const Number& number : m_numbers) {
        const auto parsed = parseValue(number.range, number.edit->accessibleName().toStdString(), number.edit->text().toStdString());
        if (!parsed) return QString::fromStdString(parsed.error().sentence);
    }
    return {};
}

void CompareForm::setCheck(const CompareCheck& check) {
    m_check = check;
    m_checked = true;
    for (std::size_t i = 0; i < m_rows.size(); ++i) m_rows[i]->setProblem(i < check.rows.size() ? check.rows[i] : QString());
    m_notes->setText(check.notes);
    m_notes->setVisible(!check.notes.isEmpty());
    m_earlier->setAnswers(check.earlier, check.earlierCount);
    showState();
}

void CompareForm::setBusy(CompareBusy busy, const QString& why) {
    m_busy = busy;
    m_why = why;
    showState();
}

QString CompareForm::said() const {
    return m_problem->text();
}

bool CompareForm::canMeasure() const {
    return m_busy == CompareBusy::Free && m_checked && m_check.possible() && wrongNumber().isEmpty();
}

void CompareForm::showState() {
    const bool same = m_same->isChecked();
    m_differences->setEnabled(!same);
    m_add->setEnabled(!same && m_rows.size() < kMostRows);
    const QString number = wrongNumber();
    const bool possible = m_checked && m_check.possible() && number.isEmpty();
    QString said;
    Tone tone = Tone::Muted;
    if (m_busy == CompareBusy::NoEngine || m_busy == CompareBusy::Taken)
        said = m_why.isEmpty() ? QString("This machine is still being looked at…") : m_why;
    else if (!number.isEmpty())
        said = number, tone = Tone::Error;
    else if (m_checked && !m_check.problem.isEmpty())
        said = m_check.problem, tone = Tone::Error;
    else if (m_checked && !rowsGood(m_check))
        said = "What is wrong is said below its row.", tone = Tone::Error;
    else if (m_busy == CompareBusy::Measuring)
        said = "An experiment is being measured; another one can follow it.";
    else if (m_busy == CompareBusy::Waiting)
        said = "It is measured as soon as the run has ended.";
    else if (m_busy == CompareBusy::Training)
        said = "A run trains on this machine now. Measured beside it, both would be slow, and neither would say anything about the sides.",
        tone = Tone::Warning;
    m_problem->setTone(tone);
    m_problem->setText(said);
    m_measure->setText(m_busy == CompareBusy::Measuring ? "Show it" : "Measure");
    m_measure->setEnabled(m_busy == CompareBusy::Measuring || canMeasure());
    const bool training = m_busy == CompareBusy::Training || m_busy == CompareBusy::Waiting;
    m_stopRun->setVisible(training);
    m_wait->setVisible(training);
    m_stopRun->setEnabled(possible);
    m_wait->setEnabled(possible || m_busy == CompareBusy::Waiting);
    m_wait->setChecked(m_busy == CompareBusy::Waiting);
}

}  // namespace stepscope
