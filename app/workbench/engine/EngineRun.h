// EngineRun: a run that a process of its own trains (EngineServer), as this process sees it: events come over a pipe and go the way of those of a
// LiveRun, through the tee to the recorder here and to the listener. If that process dies, the run has failed with one sentence, what came is stored,
// and nothing else is lost. Of an engine that outlives its line (detached/) the line is taken up again when it breaks, until a person stops the run;
// that of one whose window was killed by the next window, with the session that was left behind. One thread speaks with the engine and publishes.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/workbench/EventTee.h"
#include "app/workbench/diagnose/ForetoldTime.h"
#include "app/workbench/engine/EngineLine.h"
#include "app/workbench/engine/StartWords.h"
#include "core/optimizations/registry/Registry.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/Hello.h"

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
    Status expectAnswer();
    Status take(const Frame& frame);
    Status takeEvent(Event event);
    // Whether it is new: what is said again on a line that was taken up is not.
    Result<bool> expectNumber(std::uint64_t number);
    Status begin(SessionStarted started);
    Status keep(const Frame& frame);
    void tellStored();
    void tellSafe();
    void tellUnsendable();
    void tellForecast();
    void tell(LogLevel level, std::string text);

    // LineTakenUp.cpp
    bool detached() const { return !m_hello.engine.empty(); }
    bool takesUp() const;
    Status takeUp(const Error& broken);
    Result<bool> tryAgain();
    Result<bool> greetAgain();
    Result<bool> beginAnew();
    Result<std::optional<Frame>> hear(std::chrono::steady_clock::time_point until);
    void pauseFor(std::chrono::milliseconds pause);
    std::vector<std::string> commandToTakeUp() const;
    Error givenUp() const;

    // SessionTakenUp.cpp
    bool isTakenUp() const { return !m_request.engineTakenUp.empty(); }
    Status goOnWithSession();
    Result<Frame> hearAnswer(std::chrono::steady_clock::time_point until);
    Status callEngine(std::chrono::steady_clock::time_point until);
    Status attachAnew(std::chrono::steady_clock::time_point until);
    Result<RunState> showStored(SessionReader& reader, SessionInfo info);
    bool isStored(const Event& event);
    bool isStored(const Chunk& chunk) const;

    void fail(const Error& error);
    TimeNs now() const;
    TimeNs stamp();  // of what is said here
    std::string database() const { return m_request.database.empty() ? defaultDatabasePath() : m_request.database; }

    RunRequest m_request;
    RunPlan m_plan;
    std::shared_ptr<const Registry> m_registry;
    SessionClock m_clock;  // as the engine's, as soon as a session begins
    EventTee m_tee;
    std::unique_ptr<EngineLine> m_line;
    std::atomic<bool> m_cancelled{false};
    std::atomic<bool> m_done{false};

    std::mutex m_joining;  // who waits for its end may be several
    std::mutex m_mutex;
    std::condition_variable m_asked;  // something was sent while there was no line
    // Under m_mutex, as is which line m_line is:
    std::vector<NumberedCommand> m_unheard;  // that the engine may not know of
    std::uint64_t m_commands = 0;            // number of the newest
    bool m_up = false;                       // the engine takes commands
    Status m_unsendable;                     // a command that no frame can hold, until that is told

    // Of the thread; the rest is read after it has ended.
    std::shared_ptr<Recorder> m_recorder;
    std::shared_ptr<const SessionInfo> m_info;  // of the session that is kept here
    std::optional<ForetoldTime> m_foretold;
    RunConfig m_config;   // as it is now
    std::string m_where;  // a sentence: on which other machine; empty: on this one
    StoredSoFar m_stored;
    Hello m_hello;        // of the engine
    Status m_kept;        // here; an error: why not
    std::string m_tried;  // why the line could not be taken up when that was tried last
    // Of a session that was taken up, moment and kind of what is stored here and may be said again; sorted.
    std::vector<std::pair<std::int64_t, std::size_t>> m_mayComeAgain;
    struct {
        std::uint64_t told = 0;       // up to which number it is told there that events are stored here,
        std::uint64_t number = 0;     // and up to which they are
        std::int64_t published = -1;  //   once so much of what was published is; -1: nothing waits for that
        std::chrono::steady_clock::time_point next;
    } m_safe;
    std::uint64_t m_number = 0;                     // of the newest event or chunk
    TimeNs m_newest;                                // when it happened
    bool m_lineDown = false;                        // and more may have happened since
    TimeNs m_stamped;                               // of the newest line of its own
    std::chrono::steady_clock::time_point m_heard;  // when something came, or the person wanted an end
    bool m_waits = false, m_silent = false;         // for an end that was asked for; that nothing comes has been told
    bool m_began = false, m_ended = false, m_heardAll = false;
    std::optional<RunSummary> m_summary;
    Error m_error;  // of a failed run
    Status m_finished;
    std::jthread m_thread;  // last: it uses everything above
};

// Starts the engine with request.engine. Errors: NotFound, Io; those of the settings, as of a run here.
Result<std::unique_ptr<Run>> startEngineRun(RunRequest request, std::shared_ptr<const Registry> registry, EventSink& sink);
// The same for request.engineTakenUp; request.config is that of its session. Errors: BadInput too, of words that start no engine with --detach.
Result<std::unique_ptr<Run>> startTakenUpRun(RunRequest request, std::shared_ptr<const Registry> registry, EventSink& sink);

}  // namespace stepscope
