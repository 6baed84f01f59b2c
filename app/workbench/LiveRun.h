// LiveRun: one run: prepares data and weights, opens the recorder and runs the Trainer, all on its own trainer thread; a generator
// thread writes text from copies of the weights; a sampler thread watches the machine.
#pragma once
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "app/workbench/EventTee.h"
#include "app/workbench/MemoryNeed.h"
#include "app/workbench/ScheduledCommands.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/diagnose/ForetoldTime.h"
#include "app/workbench/text/GeneratorThread.h"
#include "app/workbench/workers/RunWorkers.h"
#include "core/optimizations/registry/Registry.h"
#include "core/train/Trainer.h"

namespace stepscope {

class LiveRun final : public Run {
public:
    // plan: of request.config, which is complete. The sink outlives the run.
    LiveRun(RunRequest request, RunPlan plan, std::shared_ptr<const Registry> registry, EventSink& sink, RunForecast forecast);
    ~LiveRun() override;

    void send(Command command) override;
    bool done() const override { return m_done.load(); }
    RunSummary wait() override;

private:
    void work();
    Result<TrainerSetup> prepare();
    Status takeUp(Restart restart);
    Result<std::shared_ptr<const BatchSource>> openDataTogether();
    Result<std::shared_ptr<const BatchSource>> openData(const std::atomic<bool>& stop, std::int64_t sinceNs);
    Result<StartingState> beginTogether(const Corpus& corpus, std::int64_t threads);
    Status forecast(const Corpus& corpus);
    void tellForecast();
    void tellOthers(const Error& why);
    void tellWaits();
    std::map<std::int64_t, double> validatedBefore() const;
    Status openSessionTogether(const TrainerSetup& setup, const std::vector<std::string>& notes);
    Status openSession(const TrainerSetup& setup, const std::vector<std::string>& notes);
    Result<SessionInfo> infoOf(const TrainerSetup& setup) const;
    std::string database() const { return m_request.database.empty() ? defaultDatabasePath() : m_request.database; }
    bool goesOn() const { return m_restart && m_restart->session > 0; }
    void fail(const Error& error);

    RunRequest m_request;
    RunPlan m_plan;
    std::shared_ptr<const Registry> m_registry;
    RunForecast m_forecast;
    std::optional<ForetoldTime> m_foretold;
    SessionClock m_clock;
    Channel<Command> m_commands;
    ScheduledCommands m_scheduled;
    EventTee m_tee;
    std::shared_ptr<Recorder> m_recorder;
    std::unique_ptr<RunWorkers> m_workers;  // null: this process trains alone
    std::vector<LinkTime> m_link;           // between them
    std::optional<Restart> m_restart;       // of workers that were started anew
    GeneratorThread m_generator;
    std::string m_checkpointFolder;
    std::atomic<bool> m_cancelled{false};
    std::atomic<bool> m_done{false};
    std::mutex m_joining;  // who waits for its end may be several
    std::mutex m_mutex;
    bool m_preparing = true, m_captureEnded = false;  // a person wants nothing captured of what is asked for from the begin
    Error m_error;                                    // of a failed run
    std::int64_t m_lostCheckpoints = 0;
    Status m_stored;        // of the trainer thread; read after it has ended
    std::jthread m_thread;  // last: it uses everything above
};

}  // namespace stepscope
