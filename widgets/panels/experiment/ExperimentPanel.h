// The left panel: preset and why, data, model, schedule, every switch, the predicted memory. It edits an ExperimentDraft and
// says what the person did; the window answers with verdicts, a forecast and what the live run uses. GUI thread.
#pragma once
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/base/Units.h"
#include "core/events/Presets.h"
#include "widgets/panels/experiment/ExperimentDraft.h"
#include "widgets/panels/experiment/ForecastFoot.h"
#include "widgets/panels/experiment/RecentPaths.h"

class QComboBox;
class QLineEdit;
class QMenu;
class QSettings;
class QVBoxLayout;

namespace stepscope {

class DataChooser;
class FoldSection;
class SchedulePreview;
class SwitchList;
class TitleButton;
class ToneLabel;
class ValueRow;
class WeightsChooser;

class ExperimentPanel : public QWidget {
    Q_OBJECT
public:
    explicit ExperimentPanel(QWidget* parent = nullptr);

    // The machine's preset and why; chosen unless settings of an earlier start were restored.
    void setChoice(const PresetChoice& choice);
    void setCatalogue(const SwitchCatalogue& catalogue);
    void setForecast(const MemoryForecast& forecast);
    void setTimeForecast(const QString& sentence, const QString& source, bool isKnown);  // ForecastFoot::setTime()
    void setTimeOffered(bool isOffered);                                                 // ForecastFoot::setTimeOffered()
    ForecastFoot* foot() const { return m_foot; }
    void setProblem(const QString& sentence);            // what keeps this configuration from running; empty = nothing
    void setDataProblem(const QString& sentence);        // the same of the chosen data: said beside them as well
    void setValidationProblem(const QString& sentence);  // the same of the text that is validated on: said in its row
    // What was found in the chosen weights, why these settings cannot begin from them, and the settings that could, if it is their model.
    void setWeightsLook(const QString& found, const QString& problem, const std::optional<RunConfig>& shaped);
    WeightsChooser* weights() const { return m_weights; }
    DataChooser* data() const { return m_data; }
    // Runs are trained on another machine: files are chosen there, and what is said of a machine is said of it. Before setChoice().
    void setElsewhere(const QString& host, const RecentPaths::AskElsewhere& ask);
    void setPreparing();                        // Run was pressed: switches moved from here on are flipped when the run is known
    void setRunning(const RunConfig* running);  // nullptr = no live run
    void setReplaying(bool replaying);          // says then that these are not the settings of what plays
    void adopt(const RunConfig& config);        // e.g. "run again with these settings"

    void applied(const std::string& id, const Value& value);      // the live run took a value
    void refused(const std::string& id, const std::string& why);  // or did not: back to what it uses
    // What this machine measured the last time the switch was flipped: a chip (may be empty) and a sentence for its card.
    void setMeasured(const std::string& id, const QString& chip, const QString& sentence);
    void setMemory(const std::string& id, const QString& sentence);  // what its other values would need; for its card

    // With one worker a core at most; until it is told, with one.
    void setCores(int cores);
    // Processes that train together on this machine: not a key of the configuration, because a checkpoint goes on with any number of them.
    int workers() const { return m_workers; }

    const RunConfig& config() const { return m_draft.config(); }
    bool hasProblem() const;  // a wrong text somewhere, or setProblem()
    QString problem() const;
    ValueRow* row(const std::string& key) const;

    void save(QSettings& settings) const;
    bool restore(const QSettings& settings);

    // What can be done with a switch beside editing it; null for what is no switch.
    std::unique_ptr<QMenu> menuOf(const std::string& id);

Q_SIGNALS:
    void timeRequested();                                                     // how long a run of these settings takes
    void measureRequested(const QString& id, const stepscope::Value& value);  // beside the one that the live run has
    void edited(const stepscope::RunConfig& config);
    void problemChanged();                                                 // what keeps the settings from running is another thing now, or nothing
    void flipRequested(const QString& id, const stepscope::Value& value);  // a step switch while a run is live

protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void buildSections(QVBoxLayout* into);
    void addRows(FoldSection* section, const char* name, const char* whyNewRun);
    void choosePreset(const QString& id);
    void takeShape();
    void addWorkers(FoldSection* section);
    void chooseWorkers(const QString& text);
    void showWorkers();
    void commit(const QString& key, const QString& text);
    void resetKey(const QString& key);
    void clearProblems();
    void changedByHand();
    void flipIfLive(const std::string& key);
    void askRun(const std::string& id);
    void flipToShown(const QString& id);  // gives the live run what a preset, say, put into the row
    void takeBack(const QString& id);     // the row has what the live run has
    void dropMoves();
    void refresh();
    void compareWithRun();
    void showProblem();
    void forgetRefusals();
    void showSummaries();
    void nameMachine();

    ExperimentDraft m_draft;
    std::optional<RunConfig> m_running;
    std::set<std::string> m_asked;                 // flips that the run is still expected to answer
    std::optional<std::set<std::string>> m_moved;  // while a run is being prepared: switches moved since
    bool m_restored = false;
    QString m_machinePreset;
    QString m_where = "this machine";  // runs are trained

    QComboBox* m_preset;
    TitleButton* m_why;
    ToneLabel* m_whyText;
    DataChooser* m_data = nullptr;
    WeightsChooser* m_weights = nullptr;
    std::optional<RunConfig> m_shaped;  // as the chosen weights have the model
    FoldSection *m_dataSection = nullptr, *m_modelSection = nullptr, *m_scheduleSection = nullptr, *m_loopSection = nullptr;
    SchedulePreview* m_preview = nullptr;
    SwitchList* m_switches = nullptr;
    ToneLabel* m_waiting = nullptr;
    QLineEdit* m_filter = nullptr;
    ForecastFoot* m_foot;
    ValueRow* m_workersRow = nullptr;
    int m_workers = 1, m_cores = 1;
    QString m_problem, m_dataProblem, m_validationProblem, m_weightsProblem, m_shownProblem;
    std::map<std::string, ValueRow*> m_settings;
};

}  // namespace stepscope
