// What happens when something is edited; building is in ExperimentPanelLayout.cpp.
#include "widgets/panels/experiment/ExperimentPanel.h"

#include <QComboBox>
#include <QFileInfo>
#include <QSettings>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "core/analysis/RateDiagnosis.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"
#include "widgets/panels/FoldSection.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/DataChooser.h"
#include "widgets/panels/experiment/SchedulePreview.h"
#include "widgets/panels/experiment/SwitchList.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/experiment/WeightsChooser.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

constexpr int kAnswerMs = 500;  // what takes longer is told in the row; most steps do not, and a note that only flashes moves the rows below

}  // namespace

void ExperimentPanel::setChoice(const PresetChoice& choice) {
    m_machinePreset = words(choice.id);
    m_whyText->setText("For " + m_where + ": " + m_machinePreset + ". " + words(choice.why));
    m_preset->setItemText(m_preset->findData(m_machinePreset), m_machinePreset + "  (fits " + m_where + ")");
    if (m_restored) return;
    if (choice.device != "cpu") m_draft.useDevice(choice.device);
    choosePreset(m_machinePreset);
}

void ExperimentPanel::setCatalogue(const SwitchCatalogue& catalogue) {
    m_draft.setCatalogue(catalogue);
    refresh();
}

void ExperimentPanel::choosePreset(const QString& id) {
    const auto done = m_draft.choosePreset(id.toStdString());
    if (!done) return setProblem(words(done.error().sentence));
    dropMoves();
    clearProblems();
    changedByHand();
}

void ExperimentPanel::adopt(const RunConfig& config) {
    m_draft.adopt(config);
    m_restored = true;
    dropMoves();
    clearProblems();
    changedByHand();
}

// Another whole configuration takes the place of what was moved one by one.
void ExperimentPanel::dropMoves() {
    m_asked.clear();
    if (m_moved) m_moved->clear();
}

void ExperimentPanel::clearProblems() {
    for (auto& [key, row] : m_settings) row->setProblem({});
    m_workersRow->setProblem({});
    m_switches->clearProblems();
}

void ExperimentPanel::commit(const QString& key, const QString& text) {
    ValueRow* edited = row(key.toStdString());
    const std::string before = m_draft.text(key.toStdString());
    const auto done = m_draft.set(key.toStdString(), text.toStdString());
    if (edited != nullptr) edited->setProblem(done ? QString() : words(done.error().sentence));
    if (!done) {
        showProblem();
        return Q_EMIT this->edited(m_draft.config());  // so that the Run button learns of it
    }
    forgetRefusals();
    if (m_draft.text(key.toStdString()) != before) flipIfLive(key.toStdString());
    changedByHand();
}

// A refusal was of the settings as they were: an edit may have mended what stood in its way.
void ExperimentPanel::forgetRefusals() {
    for (const auto& entry : m_draft.catalogue()) {
        ValueRow* shown = m_switches->row(entry.id);
        if (shown != nullptr && !shown->problem().isEmpty() && shown->editor()->text() == words(m_draft.text(entry.id))) shown->setProblem({});
    }
}

void ExperimentPanel::setWeightsLook(const QString& found, const QString& problem, const std::optional<RunConfig>& shaped) {
    m_weightsProblem = problem;
    m_shaped = shaped;
    m_weights->setLook(found, problem, shaped.has_value());
    showProblem();
}

// As --init-shape does: what they do not tell stays as it is set.
void ExperimentPanel::takeShape() {
    if (!m_shaped) return;
    const RunConfig shaped = *m_shaped;
    for (const auto& [key, text] : listConfig(shaped))
        if (key != "preset" && m_draft.text(key) != text) (void)m_draft.set(key, text);
    clearProblems();
    changedByHand();
}

void ExperimentPanel::setCores(int cores) {
    m_cores = std::max(1, cores);
    m_workers = std::min(m_workers, m_cores);
    const QString where = m_where.left(1).toUpper() + m_where.mid(1);
    m_workersRow->setReason(m_cores > 1 ? QString() : where + " has one core, and each worker needs one of its own.");
    showWorkers();
}

void ExperimentPanel::chooseWorkers(const QString& text) {
    const auto chosen = parseValue(IntegerRange{1, m_cores}, "workers", text.toStdString());
    m_workersRow->setProblem(chosen ? QString() : words(chosen.error().sentence));
    if (chosen) m_workers = static_cast<int>(std::get<std::int64_t>(*chosen));
    changedByHand();
}

// What an update takes is of all of them: it is what the learning rate has to suit.
void ExperimentPanel::showWorkers() {
    const BatchShape batch = batchShape(m_draft.config());
    const std::int64_t each = batch.sequences * batch.microBatches, all = m_workers * each;
    m_workersRow->setValue(QString::number(m_workers), m_workers != 1);
    const QString sum = QString("%1 workers with %2 sequences each: an update takes %3.").arg(m_workers).arg(each).arg(all);
    const bool several = m_workers > 1 && each > 0;
    m_workersRow->setChip(several ? QString("batch %1").arg(all) : QString(), several ? sum : QString());
    m_workersRow->setHint(several ? sum : QString());
}

void ExperimentPanel::resetKey(const QString& key) {
    const std::string before = m_draft.text(key.toStdString());
    m_draft.reset(key.toStdString());
    if (ValueRow* edited = row(key.toStdString())) edited->setProblem({});
    if (m_draft.text(key.toStdString()) != before) flipIfLive(key.toStdString());
    changedByHand();
}

void ExperimentPanel::flipIfLive(const std::string& key) {
    const bool live =
        std::ranges::any_of(m_draft.catalogue(), [&](const SwitchInfo& entry) { return entry.id == key && entry.takesEffect == TakesEffect::Step; });
    if (!live) return;
    if (m_running)
        askRun(key);
    else if (m_moved)
        m_moved->insert(key);
}

void ExperimentPanel::askRun(const std::string& id) {
    m_asked.insert(id);
    QTimer::singleShot(kAnswerMs, this, [this] {
        m_asked.clear();
        compareWithRun();
    });
    Q_EMIT flipRequested(words(id), m_draft.config().switches.at(id));
}

void ExperimentPanel::flipToShown(const QString& id) {
    if (!m_running) return;
    askRun(id.toStdString());
    compareWithRun();
}

void ExperimentPanel::takeBack(const QString& id) {
    if (!m_running) return;
    const auto used = m_running->switches.find(id.toStdString());
    if (used == m_running->switches.end()) return;
    (void)m_draft.set(used->first, toString(used->second));  // the run has it, so it is a value the switch takes
    changedByHand();
}

void ExperimentPanel::applied(const std::string& id, const Value& value) {
    m_asked.erase(id);
    if (ValueRow* named = row(id)) named->setProblem({});  // an earlier refusal; while it stands the row keeps what was typed
    if (m_running) m_running->switches[id] = value;
    if (m_draft.text(id) == toString(value)) return refresh();
    (void)m_draft.set(id, toString(value));  // it came from the run, so it is a value the switch takes
    changedByHand();
}

void ExperimentPanel::refused(const std::string& id, const std::string& why) {
    m_asked.erase(id);
    if (m_running) {
        const auto used = m_running->switches.find(id);
        if (used != m_running->switches.end()) (void)m_draft.set(id, toString(used->second));
    }
    changedByHand();  // what was predicted for the refused value is not true of this one
    if (ValueRow* named = row(id)) {
        named->editor()->setText(words(m_draft.text(id)));
        named->setProblem(words(why));
    }
}

void ExperimentPanel::changedByHand() {
    refresh();
    Q_EMIT edited(m_draft.config());
}

void ExperimentPanel::refresh() {
    for (auto& [key, row] : m_settings) row->setValue(words(m_draft.text(key)), m_draft.changed(key));
    m_switches->setDraft(m_draft);
    compareWithRun();
    m_waiting->setVisible(m_draft.catalogue().empty());
    m_preset->setCurrentIndex(m_preset->findData(words(m_draft.config().preset)));
    m_data->setData(words(m_draft.config().data), m_draft.changed("data"));
    m_weights->setWeights(words(m_draft.config().init), m_draft.changed("init"));
    m_preview->setConfig(m_draft.config());
    showWorkers();
    showSummaries();
    showProblem();
}

void ExperimentPanel::compareWithRun() {
    std::map<std::string, std::string> run;
    if (m_running)
        for (const auto& [key, text] : listConfig(*m_running)) run[key] = text;
    m_data->setWaits(m_running && m_running->data != m_draft.config().data);
    m_weights->setWaits(m_running && m_running->init != m_draft.config().init);
    for (const auto& [key, text] : listConfig(m_draft.config())) {
        ValueRow* shown = row(key);
        if (shown == nullptr) continue;
        const auto used = run.find(key);
        const bool apart = used != run.end() && used->second != text && !m_asked.contains(key);
        shown->setInRun(apart ? words(used->second) : QString());
    }
}

void ExperimentPanel::showSummaries() {
    const RunConfig& c = m_draft.config();
    const QFileInfo file(words(c.data));
    const QFileInfo weights(words(c.init));
    m_dataSection->setSummary(QString("%1, %2").arg(file.fileName().isEmpty() ? words(c.data) : file.fileName(), words(c.tokenizer)) +
                              (c.init == kRandomWeights ? QString() : ", from " + weights.fileName()));
    m_modelSection->setSummary(QString("%1 layers, %2 heads, %3 wide").arg(c.layers).arg(c.heads).arg(c.width));
    m_scheduleSection->setSummary(QString("%1 steps, lr %2").arg(words(format::count(c.steps))).arg(c.lr, 0, 'g', 3));
    m_loopSection->setSummary(QString("seed %1, %2").arg(c.seed).arg(c.threads == 0 ? "every core" : QString("%1 threads").arg(c.threads)) +
                              (m_workers > 1 ? QString(", %1 workers").arg(m_workers) : QString()));
}

void ExperimentPanel::setForecast(const MemoryForecast& forecast) {
    m_foot->setMemory(forecast);
    m_settings.at("lr")->setHint(words(typicalRates(forecast.parameters)));
    constexpr std::int64_t kBytesAParameter = 12;  // weights and both moments, float32
    const QString size = "One takes about " + words(format::bytes({forecast.parameters * kBytesAParameter})) + " with this model.";
    for (const char* key : {"checkpoint-every", "checkpoint-at-end"}) m_settings.at(key)->setHint(size);
}

void ExperimentPanel::setTimeOffered(bool isOffered) {
    m_foot->setTimeOffered(isOffered);
}

void ExperimentPanel::setTimeForecast(const QString& sentence, const QString& source, bool isKnown) {
    m_foot->setTime(sentence, source, isKnown);
}

void ExperimentPanel::setProblem(const QString& sentence) {
    m_problem = sentence;
    showProblem();
}

void ExperimentPanel::setDataProblem(const QString& sentence) {
    m_dataProblem = sentence;
    m_data->setProblem(sentence);
    showProblem();
}

void ExperimentPanel::setValidationProblem(const QString& sentence) {
    ValueRow* shown = m_settings.at("validation");
    // A text that is no value at all has a sentence of its own, which stays.
    if (shown->problem().isEmpty() || shown->problem() == m_validationProblem) shown->setProblem(sentence);
    m_validationProblem = sentence;
    showProblem();
}

void ExperimentPanel::showProblem() {
    const QString shown = problem();
    m_foot->setProblem(shown);
    if (std::exchange(m_shownProblem, shown) != shown) Q_EMIT problemChanged();
}

void ExperimentPanel::setPreparing() {
    m_moved.emplace();
}

void ExperimentPanel::setRunning(const RunConfig* running) {
    m_running = running != nullptr ? std::optional(*running) : std::nullopt;
    m_asked.clear();
    m_foot->setRunning(m_running.has_value());
    const auto moved = std::exchange(m_moved, std::nullopt);
    if (m_running && moved)
        for (const std::string& id : *moved) {
            const auto used = m_running->switches.find(id);
            if (used != m_running->switches.end() && used->second != m_draft.config().switches.at(id)) askRun(id);
        }
    refresh();
}

void ExperimentPanel::setReplaying(bool replaying) {
    m_foot->setOfNextRun(replaying);
}

bool ExperimentPanel::hasProblem() const {
    return !problem().isEmpty();
}

QString ExperimentPanel::problem() const {
    if (!m_workersRow->problem().isEmpty()) return m_workersRow->problem();
    for (const auto& [key, row] : m_settings)
        if (!row->problem().isEmpty()) return row->problem();
    for (const auto& entry : m_draft.catalogue()) {
        const ValueRow* shown = m_switches->row(entry.id);
        // A refused flip is told in its row but does not stand in the way of the next run: the draft went back.
        if (shown != nullptr && !shown->problem().isEmpty() && shown->editor()->text() != words(m_draft.text(entry.id))) return shown->problem();
    }
    if (!m_weightsProblem.isEmpty()) return m_weightsProblem;
    if (!m_problem.isEmpty()) return m_problem;
    return m_dataProblem.isEmpty() ? m_validationProblem : m_dataProblem;
}

ValueRow* ExperimentPanel::row(const std::string& key) const {
    if (key == m_workersRow->id().toStdString()) return m_workersRow;
    const auto found = m_settings.find(key);
    return found != m_settings.end() ? found->second : m_switches->row(key);
}

void ExperimentPanel::setMeasured(const std::string& id, const QString& chip, const QString& sentence) {
    m_switches->setMeasured(id, chip, sentence);
}

void ExperimentPanel::setMemory(const std::string& id, const QString& sentence) {
    m_switches->setMemory(id, sentence);
}

void ExperimentPanel::save(QSettings& settings) const {
    if (m_draft.catalogue().empty()) return;  // what is stored has not been read yet
    settings.remove("experiment");
    settings.setValue("experiment/preset", words(m_draft.config().preset));
    if (m_workers > 1) settings.setValue("experiment/workers", m_workers);
    for (const auto& [key, text] : m_draft.differences()) settings.setValue("experiment/changed/" + words(key), words(text));
}

// Switches are not known before the catalogue is there: call again after setCatalogue(). Keys that no longer exist are left out.
bool ExperimentPanel::restore(const QSettings& settings) {
    const QString preset = settings.value("experiment/preset").toString();
    if (preset.isEmpty() || !m_draft.choosePreset(preset.toStdString())) return false;
    m_restored = true;
    m_workers = std::clamp(settings.value("experiment/workers", 1).toInt(), 1, m_cores);
    for (const QString& name : settings.allKeys())
        if (name.startsWith("experiment/changed/")) (void)m_draft.set(name.mid(19).toStdString(), settings.value(name).toString().toStdString());
    changedByHand();
    return true;
}

}  // namespace stepscope
