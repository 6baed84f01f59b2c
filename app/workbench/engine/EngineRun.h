// EngineRun: a run that a process of its own trains (EngineServer), as this process sees it: events come over a pipe and go the way of those of a
// LiveRun, through the tee to the recorder here and to the listener. If that process dies, the run has failed with one sentence, what came is stored,
// and nothing else is lost. One thread speaks with the engine and publishes.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "app/workbench/EventTee.h"
#include "app/workbench/diagnose/ForetoldTime.h"
#include "app/workbench/engine/EngineLine.h"
#include "app/workbench/engine/StartWords.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

class EngineRun final : public Run {
public:
    // plan: of request.config, which is complete. The sink outlives the run.
    EngineRun(RunRequest request, RunPlan plan, std::shared_ptr<const Registry> registry, std::unique_ptr<EngineLine> line, EventSink& sink);
    ~EngineRun() override;

    void send(Command command) override;
    bool done() const override { return m_done.load(); }
    RunSummary wait() override;

private:
    void work();
    Status greet();
    Status listen();
    Status take(const Frame& frame);
    Status takeEvent(Event event);
    Status expectNumber(std::uint64_t number);
    Status begin(SessionStarted started);
    Status keep(const Frame& frame);
    void tellStored();
    void tellForecast();
    void fail(const Error& error);
    TimeNs now() const;
    std::string database() const { return m_request.database.empty() ? defaultDatabasePath() : m_request.database; }

    RunRequest m_request;
    RunPlan m_plan;
    std::shared_ptr<const Registry> m_registry;
    SessionClock m_clock;  // as the engine's, as soon as a session begins
    EventTee m_tee;
    std::unique_ptr<EngineLine> m_line;
    std::atomic<bool> m_cancelled{false};
    std::atomic<bool> m_done{false};

    std::mutex m_mutex;
    std::vector<Command> m_early;  // under m_mutex: before the engine knows what to train
    bool m_started = false;

    // Of the thread; the rest is read after it has ended.
    std::shared_ptr<Recorder> m_recorder;
    std::shared_ptr<const SessionInfo> m_info;  // of the session that is kept here
    std::optional<ForetoldTime> m_foretold;
    RunConfig m_config;   // as it is now
    std::string m_where;  // a sentence: on which other machine; empty: on this one
    StoredSoFar m_stored;
    std::uint64_t m_number = 0;  // of the newest event or chunk
    TimeNs m_newest;             // when it happened
    bool m_began = false, m_ended = false;
    std::optional<RunSummary> m_summary;
    Error m_error;  // of a failed run
    Status m_finished;
    std::jthread m_thread;  // last: it uses everything above
};

// Starts the engine with request.engine. Errors: NotFound, Io; those of the settings, as of a run here.
Result<std::unique_ptr<Run>> startEngineRun(RunRequest request, std::shared_ptr<const Registry> registry, EventSink& sink);

}  // namespace stepscope
