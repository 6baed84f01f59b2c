// The experiment panel and the engine: each edit is answered with the planned schedule at once, with verdicts and a forecast as soon as the
// engine has them; the newest edit wins. While a run is live, a flipped switch becomes a Command and the run's answer comes back into the
// panel. GUI thread; the engine is asked on a thread of its own.
#pragma once
#include <QObject>
#include <QTimer>
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "app/gui/process/BackThread.h"
#include "app/workbench/DataCheck.h"
#include "app/workbench/WeightsLook.h"
#include "app/workbench/engine/EngineQuestions.h"
#include "core/events/RunEvents.h"

namespace stepscope {

class ExperimentPanel;
class HintStrip;
class LiveFeed;
class LivePage;
class RunController;
struct EditAnswer;
struct EngineAnswer;

class ExperimentWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        HintStrip& hints;
        LivePage& livePage;
    };
    ExperimentWiring(const Panels& panels, RunController& runs, LiveFeed& live, QObject* parent = nullptr);
    ~ExperimentWiring() override;

Q_SIGNALS:
    void keep();  // the settings are to be written down now

private:
    void engineReady(const EngineAnswer& answer);
    void ask(const RunConfig& config);
    void show(const EditAnswer& found);
    void lookAtWeightsOf(const RunConfig& config, std::uint64_t edit);
    void lookAt(DataCheck& check, const std::string& data, std::uint64_t edit, void (ExperimentPanel::*say)(const QString& sentence));
    std::optional<std::string> problemOf(DataCheck& check, const std::string& data, const std::function<bool()>& wanted);
    std::optional<WeightsLook> lookOf(const RunConfig& config, const std::function<bool()>& wanted);
    void runStarted();
    void applied(const SwitchApplied& flip);

    Panels m_panels;
    RunController& m_runs;
    LiveFeed& m_live;
    QTimer m_keep;                            // until the settings are written down
    std::string m_shownData;                  // what is said of them is of these
    std::string m_shownValidation;            // and of these
    std::string m_shownWeights;               // and of these
    std::atomic<std::uint64_t> m_newest = 0;  // number of the newest edit
    DataCheck m_data, m_validation;           // asked by the thread alone,
    std::optional<EngineQuestions> m_engine;  //   and in their place where files are another machine's
    BackThread m_thread;                      // last: joined first
};

}  // namespace stepscope
