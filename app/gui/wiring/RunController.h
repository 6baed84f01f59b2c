// Owns the engine on behalf of the window: makes the Workbench, starts runs and experiments, one at a time, sends them commands, sees them off.
// Everything that can take time (looking at the machine, opening SQLite, the end of a run) happens on its thread; the GUI thread only posts.
#pragma once
#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "app/gui/process/BackThread.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/engine/EngineElsewhere.h"

namespace stepscope {

class LiveFeed;

// What the engine says when it is ready. Found out on its thread: verdicts and predictions go into LibTorch.
struct EngineAnswer {
    SwitchCatalogue catalogue;  // for the settings that openEngine() was given
    PresetChoice choice;
};

class RunController : public QObject {
    Q_OBJECT
public:
    enum class Phase { None, Starting, Live, Stopping };

    // engine: the words that start a process for each run (RunRequest::engine); none: runs are trained in this process.
    // elsewhere: that process is on another machine; then the Workbench is of that machine, and nothing is measured by this process.
    explicit RunController(LiveFeed& feed, std::vector<std::string> engine = {}, std::optional<EngineElsewhere> elsewhere = {},
                           QObject* parent = nullptr);
    ~RunController() override;  // stops a run and waits for it; the window has gone by then

    void openEngine(const RunConfig& shown);  // answers with engineReady() or engineFailed()
    // Why there is no report yet: settings and machine are told by the engine.
    static constexpr const char* kReportWaits =
        "A report needs the engine, which has not started: once it has, ask again; where it cannot, the log says why.";
    // nullptr before engineReady(). The GUI thread asks it for nothing but its machine().
    const Workbench* workbench() const { return m_workbench.get(); }

    const std::optional<EngineElsewhere>& elsewhere() const { return m_elsewhere; }
    // Why what this process measures cannot be asked, for the other machine would not be meant; empty: runs are trained on this one.
    QString whyNotMeasured() const;

    Phase phase() const { return m_phase; }
    bool busy() const { return m_phase != Phase::None; }
    bool measuring() const { return busy() && m_measuring; }  // an experiment keeps it busy,
    bool training() const { return busy() && !m_measuring; }  //   or a run
    // The page that shows what is measured, by its name; of the newest where nothing is.
    const QString& measuredOn() const { return m_measuredOn; }
    // Something that is neither has the processors: why no run and no experiment can begin, a sentence; empty: nothing has.
    void setTaken(const QString& why);
    const QString& taken() const { return m_taken; }
    const RunRequest& request() const { return m_request; }  // of the newest run
    // Whether what kept that run from starting is where it would be stored; without recording it could.
    bool isAboutStorage(const Subject& subject) const;

    void start(RunRequest request);
    // Answered with measureFailed() or, when it is over, measured(). The sink outlives this.
    void measure(ExperimentRequest request, EventSink& sink);
    // A ladder or a search, the same way. start is called on the engine's thread. Answered with studyFailed() or, when it is over, studied().
    using StudyStart = std::function<Result<std::unique_ptr<Run>>(Workbench& workbench, EventSink& sink)>;
    void study(StudyStart start, EventSink& sink);
    // Something of the engine's that is no run of the window's: on the engine's thread, before whatever is started after it. It ends soon when it is
    // told to; busy() does not speak of it.
    void beside(std::function<void(Workbench& workbench)> work);
    void send(Command command);  // while a run is being started, kept for it; ignored when there is none
    void stop();
    // Saves a checkpoint, stops the run and waits for it, without an event loop: for an end of the program that nobody asked for.
    enum class Left { NoRun, Kept, NotKept };  // its newest step, with a checkpoint
    Left keepAndStop();

Q_SIGNALS:
    void engineReady(const stepscope::EngineAnswer& answer);
    void engineFailed(const QString& sentence);
    void phaseChanged();
    void takenChanged();
    // database: the run could not start because of where it would be stored; without recording it could.
    void startFailed(const QString& sentence, bool database);
    void ended(const stepscope::RunSummary& summary);
    void measureFailed(const QString& sentence);
    void measured(const stepscope::RunSummary& summary);
    void studyFailed(const QString& sentence);
    void studied(const stepscope::RunSummary& summary);

private:
    void setPhase(Phase phase);
    void carryOut(const QString& page, StudyStart start, EventSink& sink, void (RunController::*failed)(const QString&),
                  void (RunController::*done)(const RunSummary&));
    void becomeLive(std::shared_ptr<Run> run);

    LiveFeed& m_feed;
    const std::vector<std::string> m_engine;
    const std::optional<EngineElsewhere> m_elsewhere;
    std::shared_ptr<Workbench> m_workbench;
    std::shared_ptr<Run> m_run;
    RunRequest m_request;
    std::vector<Command> m_early;  // for the run that is being started
    Phase m_phase = Phase::None;
    QString m_taken, m_measuredOn;
    bool m_stopWhenStarted = false, m_measuring = false;
    std::atomic<bool> m_leaving = false;
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
