// How the experiment panel is put together: a fixed head, sections that scroll, a fixed foot.
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "widgets/panels/FoldSection.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/DataChooser.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/SchedulePreview.h"
#include "widgets/panels/experiment/SwitchList.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/experiment/WeightsChooser.h"

namespace stepscope {
namespace {
constexpr char kWhyDataWait[] = "the text is cut into tokens, and a part of it set aside, before the first step.";
}

ExperimentPanel::ExperimentPanel(QWidget* parent) : QWidget(parent) {
    m_preset = new QComboBox;
    m_preset->setAccessibleName("Preset");
    for (const auto& preset : presets()) {
        m_preset->addItem(QString::fromStdString(preset.title), QString::fromStdString(preset.id));
        m_preset->setItemData(m_preset->count() - 1, QString::fromStdString(preset.summary), Qt::ToolTipRole);
    }
    connect(m_preset, &QComboBox::activated, this, [this](int index) { choosePreset(m_preset->itemData(index).toString()); });
    m_why = new TitleButton("why?");
    m_why->setLink(true);
    m_why->setAccessibleName("Why this preset");
    m_whyText = sentenceLabel(Tone::Muted);
    m_whyText->hide();
    connect(m_why, &QAbstractButton::clicked, this, [this] { m_whyText->setVisible(m_whyText->isHidden()); });

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 4, 8);
    layout->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->addWidget(m_preset, 1);
    head->addWidget(m_why);
    layout->addLayout(head);
    layout->addWidget(m_whyText);

    auto* inside = new QWidget;
    auto* sections = new QVBoxLayout(inside);
    sections->setContentsMargins(0, 0, 4, 0);
    sections->setSpacing(2);
    buildSections(sections);
    nameMachine();
    sections->addStretch();
    auto* scroll = new QScrollArea;
    scroll->setWidget(inside);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    layout->addWidget(scroll, 1);

    m_foot = new ForecastFoot;
    connect(m_foot, &ForecastFoot::timeRequested, this, &ExperimentPanel::timeRequested);
    layout->addWidget(m_foot);
    setMinimumWidth(276);

    if (!presets().empty()) choosePreset(QString::fromStdString(presets().front().id));
}

void ExperimentPanel::buildSections(QVBoxLayout* into) {
    m_dataSection = new FoldSection("Data", true);
    m_data = new DataChooser(kWhyDataWait);
    connect(m_data, &DataChooser::chosen, this, [this](const QString& data) { commit("data", data); });
    connect(m_data, &DataChooser::resetRequested, this, [this] { resetKey("data"); });
    m_dataSection->body()->addWidget(m_data);
    m_weights = new WeightsChooser("the weights are drawn or read once, when a run begins.");
    connect(m_weights, &WeightsChooser::chosen, this, [this](const QString& weights) { commit("init", weights); });
    connect(m_weights, &WeightsChooser::resetRequested, this, [this] { resetKey("init"); });
    connect(m_weights, &WeightsChooser::shapeRequested, this, &ExperimentPanel::takeShape);
    m_dataSection->body()->addWidget(m_weights);
    addRows(m_dataSection, "data", kWhyDataWait);

    m_modelSection = new FoldSection("Model", false);
    addRows(m_modelSection, "model", "the weights are made for one model, which a run trains from its first step to its last.");

    m_scheduleSection = new FoldSection("Schedule", false);
    addRows(m_scheduleSection, "schedule", "a run keeps the schedule and the optimizer's numbers that it began with.");
    m_preview = new SchedulePreview;

    m_loopSection = new FoldSection("Loop", false);
    addRows(m_loopSection, "loop", "a run reads these once, when it begins; only other batches can be drawn meanwhile, from the menu.");

    auto* switches = new FoldSection("Switches", true);
    m_waiting = sentenceLabel(Tone::Muted);
    m_filter = new QLineEdit;
    m_filter->setPlaceholderText("filter: name, key, or what it does");
    m_filter->setAccessibleName("Filter switches");
    m_filter->setClearButtonEnabled(true);
    m_filter->addAction(lineIcon("search"), QLineEdit::LeadingPosition);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) { m_switches->setFilter(text); });
    switches->body()->addWidget(m_filter);
    switches->body()->addWidget(m_waiting);
    m_switches = new SwitchList;
    connect(m_switches, &SwitchList::committed, this, &ExperimentPanel::commit);
    connect(m_switches, &SwitchList::resetRequested, this, &ExperimentPanel::resetKey);
    connect(m_switches, &SwitchList::flipRequested, this, &ExperimentPanel::flipToShown);
    connect(m_switches, &SwitchList::takeBackRequested, this, &ExperimentPanel::takeBack);
    switches->body()->addWidget(m_switches);

    into->addWidget(m_dataSection);
    into->addWidget(m_modelSection);
    into->addWidget(m_scheduleSection);
    into->addWidget(m_preview);
    into->addWidget(m_loopSection);
    into->addWidget(switches);
}

// Every plain setting comes from the one table of keys; data and weights have choosers of their own.
void ExperimentPanel::addRows(FoldSection* section, const char* name, const char* whyNewRun) {
    for (const auto& setting : configKeys()) {
        if (setting.section != name || setting.id == "data" || setting.id == "init") continue;
        auto* row = new ValueRow(QString::fromStdString(setting.id), QString::fromStdString(setting.title), setting.values);
        QString help = QString::fromStdString(setting.help);
        if (!help.isEmpty()) help[0] = help[0].toUpper();
        row->setSummary(help + '.');
        row->setDetails(help + ". Key: " + QString::fromStdString(setting.id));
        row->setNewRun(whyNewRun);
        connect(row, &ValueRow::committed, this, &ExperimentPanel::commit);
        connect(row, &ValueRow::resetRequested, this, &ExperimentPanel::resetKey);
        m_settings[setting.id] = row;
        section->body()->addWidget(row);
        if (setting.id == "threads") addWorkers(section);
    }
}

void ExperimentPanel::addWorkers(FoldSection* section) {
    constexpr std::int64_t kMost = 256;
    m_workersRow = new ValueRow("workers", "Workers", IntegerRange{1, kMost});
    m_workersRow->setNewRun("the other workers are started with the run.");
    connect(m_workersRow, &ValueRow::committed, this, [this](const QString&, const QString& text) { chooseWorkers(text); });
    connect(m_workersRow, &ValueRow::resetRequested, this, [this] { chooseWorkers("1"); });
    section->body()->addWidget(m_workersRow);
}

// Where words speak of a machine.
void ExperimentPanel::nameMachine() {
    m_whyText->setText(QString("Looking at %1…").arg(m_where));
    m_waiting->setText(QString("The switches appear as soon as %1 has been looked at.").arg(m_where));
    const QString together = QString("Processes on %1 that train the model together, each with ").arg(m_where);
    m_workersRow->setSummary(together + "its share of the cores.");
    m_workersRow->setDetails(together +
                             "the whole model, its share of the cores and a batch of its own; their gradients are added up. The memory and the time "
                             "below are those of one worker by itself. On the command line: --workers.");
}

void ExperimentPanel::setElsewhere(const QString& host, const RecentPaths::AskElsewhere& ask) {
    m_where = host;
    nameMachine();
    m_foot->setMachine(host);
    m_data->setFilesElsewhere(host, ask);
    m_weights->setFilesElsewhere(host, ask);
}

}  // namespace stepscope
