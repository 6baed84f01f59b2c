#include "app/gui/wiring/DemoWiring.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "app/gui/wiring/RunController.h"
#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "core/events/Event.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {

// Shared with the engine's thread, which goes on with it when the window has gone.
struct DemoWiring::Recording {
    std::atomic<bool> cancelled{false};
    std::mutex mutex;
    std::shared_ptr<Run> run;      // that is being recorded
    DemoWiring* wiring = nullptr;  // null: it has gone

    void stop() {
        std::shared_ptr<Run> now;
        {
            const std::lock_guard lock(mutex);
            now = run;
        }
        if (now) now->send(Stop{});
    }
};

namespace {

using DemoClock = std::chrono::steady_clock;

// Ends its run when so many seconds of steps were made.
class DemoSink final : public EventSink {
public:
    DemoSink(std::function<void()> stop, double seconds) : m_stop(std::move(stop)), m_seconds(seconds) {}
    void publish(Event event) override {
        if (!std::holds_alternative<StepDone>(event)) return;
        const auto now = DemoClock::now();
        if (m_first == DemoClock::time_point{}) m_first = now;
        if (std::chrono::duration<double>(now - m_first).count() >= m_seconds) m_stop();
    }

private:
    std::function<void()> m_stop;
    double m_seconds;
    DemoClock::time_point m_first;  // steps are published by one thread
};

}  // namespace

DemoWiring::DemoWiring(SessionsPanel& sessions, RunController& runs, RunWiring& running, SessionsReader& reader, QObject* parent)
    : QObject(parent), m_sessions(sessions), m_runs(runs), m_running(running), m_reader(reader) {
    connect(&sessions, &SessionsPanel::demoRequested, this, &DemoWiring::record);
    connect(&runs, &RunController::engineReady, this, &DemoWiring::offer);
    connect(&runs, &RunController::phaseChanged, this, [this] {
        if (m_runs.busy()) cancel();
        offer();
    });
    offer();
}

DemoWiring::~DemoWiring() {
    cancel();
    if (!m_recording) return;
    const std::lock_guard lock(m_recording->mutex);
    m_recording->wiring = nullptr;
}

void DemoWiring::offer() {
    m_sessions.setDemoOffered(m_runs.workbench() != nullptr && !m_runs.busy() && !recording());
}

void DemoWiring::cancel() {
    if (!m_recording) return;
    m_recording->cancelled = true;
    m_recording->stop();
}

void DemoWiring::record() {
    if (recording()) return;
    if (m_runs.workbench() == nullptr) return m_running.say("The engine is starting; the demo sessions can be recorded when it has.", false);
    if (m_runs.elsewhere()) return m_running.say(m_runs.whyNotMeasured(), false);
    if (!m_runs.taken().isEmpty()) return m_running.say(m_runs.taken(), false);
    if (m_runs.busy()) return m_running.say("The demo sessions would disturb what is running; they can be recorded when it has ended.", false);
    m_recording = std::make_shared<Recording>();
    m_recording->wiring = this;
    offer();
    m_running.say("Two short demo sessions are being recorded, some seconds each; a run that is started ends that.", false);
    m_runs.beside([recording = m_recording, seconds = m_seconds, database = m_reader.database()](Workbench& workbench) {
        const auto finish = [&](const QString& sentence, bool isError) {
            const std::lock_guard lock(recording->mutex);
            if (DemoWiring* wiring = recording->wiring) answer(wiring, [wiring, sentence, isError] { wiring->ended(sentence, isError); });
        };
        auto requests = demoRequests(workbench, database);
        if (!requests) return finish(QString::fromStdString(requests.error().sentence), true);
        for (RunRequest& request : *requests) {
            if (recording->cancelled) break;
            DemoSink sink([&] { recording->stop(); }, seconds);
            auto started = workbench.start(std::move(request), sink);
            if (!started) return finish(QString::fromStdString(started.error().sentence), true);
            const std::shared_ptr<Run> run = std::move(*started);
            {
                const std::lock_guard lock(recording->mutex);
                recording->run = run;
            }
            if (recording->cancelled) recording->stop();
            const RunSummary summary = run->wait();
            {
                const std::lock_guard lock(recording->mutex);
                recording->run.reset();
            }
            // What was cut short shows nothing.
            if (recording->cancelled && summary.session != 0) (void)deleteSession(database, summary.session);
            if (summary.state == RunState::Failed || summary.state == RunState::Interrupted) return finish(QString::fromStdString(summary.why), true);
        }
        finish(recording->cancelled ? QString("The demo sessions were given up: something else was started.")
                                    : QString("Two demo sessions are recorded: double-click one to see it."),
               false);
    });
}

void DemoWiring::ended(const QString& sentence, bool isError) {
    m_recording.reset();
    m_running.say(sentence, isError);
    m_reader.refresh();
    offer();
}

}  // namespace stepscope
