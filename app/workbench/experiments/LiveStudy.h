// LiveStudy: what a ladder and a search share: one session in which many measurements are made one after the other, on a thread of its own. A
// measurement is a LiveExperiment that is not recorded by itself; its events become this session's.
#pragma once
#include <functional>
#include <mutex>
#include <thread>

#include "app/workbench/EventTee.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/events/Study.h"

namespace stepscope {

using ExperimentStart = std::function<Result<std::unique_ptr<Run>>(ExperimentRequest, EventSink&)>;

class LiveStudy : public Run {
public:
    void send(Command command) override;  // Stop ends it and keeps what is known; others mean nothing to it
    bool done() const override { return m_done.load(); }
    RunSummary wait() override;

    // Once, by whoever made it.
    void begin();

protected:
    struct Session {  // how it is stored
        SessionKind kind = SessionKind::Ladder;
        std::string name, notes, database;
        std::int64_t goesOnWith = 0;  // an earlier session of the same ladder; 0: none
        std::vector<std::string> tags;
        bool record = true;
        RunConfig config;
        Machine machine;
    };
    struct Outcome {
        RunState state = RunState::Finished;
        Error error;
    };

    LiveStudy(Session session, ExperimentStart start, EventSink& sink);

    // Each class that derives from this ends its thread in its destructor, before its own members go.
    void end();

    virtual Outcome study() = 0;           // on the thread
    virtual StudyBegan began() const = 0;  // when the session is opened

    // Opens the session, once; `like` has what is known of model and data.
    Status open(const SessionInfo& like);
    bool opened() const { return m_opened; }
    const Status& couldOpen() const { return m_couldOpen; }
    void publish(Event event);
    void say(LogLevel level, const std::string& sentence);
    // Carries one experiment out. onNews: when the session has been opened, and after each of its pairs, with what is known so far. The session is
    // open afterwards, unless the experiment could not even begin.
    Outcome measure(ExperimentRequest request, ExperimentHistory& history, const std::function<void()>& onNews);
    const SessionClock& clock() const { return m_clock; }
    double elapsed() const { return m_clock.now().seconds(); }
    EventTee& tee() { return m_tee; }
    bool stopAsked() const { return m_stop.load(); }
    const std::atomic<bool>& stop() const { return m_stop; }
    const Session& session() const { return m_session; }

private:
    class Relay;
    void work();

    Session m_session;
    ExperimentStart m_start;
    SessionClock m_clock;
    EventTee m_tee;
    std::shared_ptr<Recorder> m_recorder;
    bool m_opened = false;
    Status m_couldOpen;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_measured{false};  // what is left is to store it
    std::atomic<bool> m_done{false};
    std::mutex m_joining;  // who waits for its end may be several
    std::mutex m_mutex;
    Run* m_leg = nullptr;  // the experiment under way
    Error m_error;
    Status m_stored;
    std::jthread m_thread;
};

}  // namespace stepscope
