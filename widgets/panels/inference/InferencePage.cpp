#include "widgets/panels/inference/InferencePage.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/events/ConfigKeys.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/WeightsButtons.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/inference/FormsTables.h"
#include "widgets/panels/inference/PruningCurve.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

const char* kWhatInferenceIs =
    "Reads held-out text in every form of the weights, then lets them take turns at prompts and texts until it is known which is faster. Nothing is "
    "recorded.";

struct InferenceField {
    const char *key, *name, *value, *tooltip;
    ValueRange range;
};
const std::vector<InferenceField>& inferenceFields() {
    static const std::vector<InferenceField> all{
        {"prompt", "Prompt", "0", "Tokens of each prompt; 0 = 128, or half of the model's positions", IntegerRange{0, 10'000'000}},
        {"text", "Text", "0", "Tokens written behind it; 0 = 64, or as many as there is room for", IntegerRange{0, 10'000'000}},
        {"texts", "At a time", "1", "Texts beside each other, which read the weights once for all of them", IntegerRange{1, 64}},
        {"tokens", "Held out", "4096", "Tokens of the held-out text that each form reads", IntegerRange{1, 1'000'000}},
        {"seconds", "Seconds", "60", "For the speeds, up to four times as long where rounds are slow; 0 = no speeds are measured",
         RealRange{0, 86'400}},
        {"fine-tune", "Fine-tune", "0", "Steps of training behind each pruning, its zeros kept, on the run's own text; 0 = none",
         IntegerRange{0, 1'000'000}},
    };
    return all;
}

QPushButton* inferenceButton(const char* text, const char* icon, const char* tooltip) {
    auto* made = new QPushButton(text);
    if (icon != nullptr) made->setIcon(lineIcon(icon));
    made->setAutoDefault(false);
    made->setToolTip(tooltip);
    return made;
}

}  // namespace

InferencePage::InferencePage(QWidget* parent) : ScrolledPage("Inference", parent) {
    QVBoxLayout* layout = parts();
    layout->addWidget(buildSource());
    layout->addWidget(buildQuestion());
    m_state = new ElidedLabel(Tone::Muted, 2);
    m_state->setAccessibleName("What Inference is doing");
    layout->addWidget(m_state);
    m_progress = new QProgressBar;
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setMaximumHeight(space(2));
    m_progress->setAccessibleName("How far it is");
    layout->addWidget(m_progress);
    m_whose = new ElidedLabel(Tone::Normal);
    m_whose->setAccessibleName("Whose figures these are");
    layout->addWidget(m_whose);
    m_table = new FormsTable;
    layout->addWidget(m_table);
    layout->addWidget(buildPruning());
    endParts();
    setView({});
}

QWidget* InferencePage::buildSource() {
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    m_sourceLabel = new ElidedLabel(Tone::Normal, 2);
    m_sourceLabel->setAccessibleName("Whose weights");
    layout->addWidget(m_sourceLabel);
    m_weights = new WeightsButtons("Weights to measure");
    layout->addWidget(m_weights);
    connect(m_weights, &WeightsButtons::chosen, this, [this](const QString& path) {
        if (!path.isEmpty()) m_lastFolder = QFileInfo(path).absolutePath();
        Q_EMIT weightsRequested(path);
    });
    return part;
}

QWidget* InferencePage::buildQuestion() {
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    m_data = new QLineEdit;
    m_data->setPlaceholderText("Held-out text: empty = what the run validated on; or kjv, or a file");
    m_data->setAccessibleName("Held-out text");
    m_data->setClearButtonEnabled(true);
    m_data->installEventFilter(this);
    layout->addWidget(m_data);
    auto* numbers = new QHBoxLayout;
    numbers->setSpacing(space(2));
    for (const InferenceField& field : inferenceFields()) {
        auto* edit = new NumberEdit;
        edit->setRange(field.range);
        edit->setText(field.value);
        edit->setToolTip(field.tooltip);
        edit->setAccessibleName(field.name);
        edit->setMinimumWidth(52);
        edit->setMaximumWidth(112);
        edit->installEventFilter(this);
        auto* title = new ElidedLabel(Tone::Muted);
        title->setText(field.name);
        auto* cell = new QVBoxLayout;
        cell->setSpacing(2);
        cell->addWidget(title);
        cell->addWidget(edit);
        numbers->addLayout(cell, 2);
        connect(edit, &NumberEdit::committed, this, &InferencePage::showState);
        m_controls.push_back({field.key, field.range, edit});
    }
    numbers->addStretch(1);
    layout->addLayout(numbers);
    m_measure = inferenceButton("Measure", "run", kWhatInferenceIs);
    m_measure->setAccessibleName("Measure the forms");
    m_stop = inferenceButton("Stop", "stop", "Ends what is being measured; what is known stays");
    m_pruning = new QCheckBox("Pruning too");
    m_pruning->setToolTip("What the perplexity becomes when the smallest weights are zeros");
    m_pruning->setChecked(true);
    auto* buttons = new FlowLayout;
    buttons->addWidget(m_measure);
    buttons->addWidget(m_stop);
    buttons->addWidget(m_pruning);
    layout->addLayout(buttons);
    connect(m_measure, &QPushButton::clicked, this, [this] {
        if (const auto asked = question()) Q_EMIT measureRequested(*asked);
    });
    connect(m_stop, &QPushButton::clicked, this, &InferencePage::stopRequested);
    return part;
}

QWidget* InferencePage::buildPruning() {
    auto* part = new QWidget;
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(space(1));
    auto* head = new QLabel("Pruning: the smallest weights as zeros");
    head->setFont(headFont(head->font()));
    layout->addWidget(head);
    m_zeros = sentenceLabel(Tone::Muted);
    layout->addWidget(m_zeros);
    m_scope = new QComboBox;
    m_scope->setAccessibleName("What is pruned");
    m_scope->setToolTip("Among whom the smallest are looked for; 2:4 stands beside each");
    // The words of `prune --scope` as data.
    m_scope->addItem("Smallest weights of all", "global");
    m_scope->addItem("Smallest weights of each matrix", "layer");
    m_scope->addItem("Smallest heads of the attention", "heads");
    m_prune = inferenceButton("Write pruned checkpoint…", nullptr,
                              "A new checkpoint of these weights with the row that is chosen below pruned; what is measured stays as it is");
    auto* controls = new FlowLayout;
    controls->addWidget(m_scope);
    controls->addWidget(m_prune);
    layout->addLayout(controls);
    m_pruned = new PrunedTable;
    layout->addWidget(m_pruned);
    connect(m_scope, &QComboBox::currentIndexChanged, this, &InferencePage::showPruned);
    connect(m_prune, &QPushButton::clicked, this, &InferencePage::askWhereTo);
    connect(m_pruned, &QTableWidget::itemSelectionChanged, this, &InferencePage::showState);
    m_curve = new PruningCurve;
    layout->addWidget(m_curve);
    return part;
}

void InferencePage::setSource(bool ready, const QString& sentence, bool file) {
    m_ready = ready;
    m_why = sentence;
    m_fromFile = file;
    showState();
}

void InferencePage::setView(const InferenceView& view) {
    m_view = view;
    m_table->setRows(m_view.rows);
    m_zeros->setText(m_view.pruning);
    showPruned();
}

void InferencePage::showPruned() {
    m_shown.clear();
    const QString scope = m_scope->currentData().toString();
    for (const PrunedPoint& point : m_view.pruned)
        if (point.scope.isEmpty() || point.scope == scope) m_shown.push_back(point);
    m_pruned->setPoints(m_shown);
    m_curve->setPoints(m_shown);
    showState();
}

void InferencePage::askWhereTo() {
    const int row = m_pruned->chosen();
    if (row < 0 || row >= static_cast<int>(m_shown.size())) return;
    const auto asked = question();
    if (!asked) return;
    PruneWish wish;
    wish.point = m_shown[static_cast<std::size_t>(row)];
    wish.data = asked->data;
    wish.tokens = asked->tokens;
    auto* dialog = new QFileDialog(this, "Folder of the pruned checkpoint", m_lastFolder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setFileMode(QFileDialog::AnyFile);
    dialog->setOption(QFileDialog::DontConfirmOverwrite);  // what is there already is refused, not replaced
    dialog->selectFile("pruned");
    connect(dialog, &QFileDialog::fileSelected, this, [this, wish](const QString& path) {
        m_lastFolder = QFileInfo(path).absolutePath();
        PruneWish complete = wish;
        complete.out = path;
        Q_EMIT pruneRequested(complete);
    });
    dialog->open();
}

QString InferencePage::wrong() const {
    for (const Control& control : m_controls)
        if (const auto parsed = parseValue(control.range, control.key.toStdString(), control.edit->text().toStdString()); !parsed)
            return QString::fromStdString(parsed.error().sentence);
    return {};
}

std::optional<InferenceQuestion> InferencePage::question() const {
    if (!wrong().isEmpty()) return std::nullopt;
    const auto whole = [this](std::size_t at) { return m_controls[at].edit->text().toLongLong(); };
    InferenceQuestion asked;
    asked.data = m_data->text().trimmed();
    asked.prompt = whole(0);
    asked.text = whole(1);
    asked.sequences = whole(2);
    asked.tokens = whole(3);
    asked.seconds = m_controls[4].edit->text().toDouble();
    asked.pruning = m_pruning->isChecked();
    asked.fineTune = whole(5);
    return asked;
}

// One sentence at a time: a wrong number first.
void InferencePage::showState() {
    using Stage = InferenceView::Stage;
    const QString bad = wrong();
    const bool measuring = m_view.stage == Stage::Measuring;
    m_sourceLabel->setTone(m_ready ? Tone::Normal : Tone::Muted);
    m_sourceLabel->setText(m_why);
    m_measure->setEnabled(m_ready && !measuring && bad.isEmpty());
    m_stop->setEnabled(measuring);
    m_weights->setState(!measuring, m_fromFile);
    m_prune->setEnabled(m_ready && !measuring && bad.isEmpty() && m_pruned->chosen() >= 0);
    m_state->setTone(!bad.isEmpty() || m_view.stage == Stage::Failed ? Tone::Error : Tone::Muted);
    m_state->setText(!bad.isEmpty() ? bad : m_view.stage == Stage::Empty ? QString(kWhatInferenceIs) : m_view.doing);
    // Its line is there before anything is known: the tables below it stay where they are.
    m_whose->setTone(m_view.whose.isEmpty() ? Tone::Muted : Tone::Normal);
    m_whose->setText(m_view.whose.isEmpty() ? QString("No figures yet.") : m_view.whose);
    m_progress->setEnabled(measuring);
    m_progress->setValue(measuring ? static_cast<int>(std::lround(1000 * std::clamp(m_view.share, 0.0, 1.0))) : 0);
}

// To the page itself, where the window's single keys act again.
bool InferencePage::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
        return ScrolledPage::eventFilter(watched, event);
    setFocus(Qt::ShortcutFocusReason);
    return true;
}

QString InferencePage::state() const {
    return m_state->text();
}

QString InferencePage::whose() const {
    return m_view.whose;
}

QString InferencePage::source() const {
    return m_sourceLabel->text();
}

QString InferencePage::cell(const QString& form, const QString& column) const {
    return m_table->cell(form, column);
}

void InferencePage::save(QSettings& settings) const {
    settings.setValue("inference/data", m_data->text());
    settings.setValue("inference/pruning", m_pruning->isChecked());
    settings.setValue("inference/scope", m_scope->currentData());
    for (const Control& control : m_controls) settings.setValue("inference/" + control.key, control.edit->text());
}

void InferencePage::restore(const QSettings& settings) {
    m_data->setText(settings.value("inference/data").toString());
    m_pruning->setChecked(settings.value("inference/pruning", true).toBool());
    m_scope->setCurrentIndex(std::max(0, m_scope->findData(settings.value("inference/scope"))));
    for (const Control& control : m_controls) control.edit->setText(settings.value("inference/" + control.key, control.edit->text()).toString());
    showState();
}

}  // namespace stepscope
