// A run without torch for the window's tests: a thread that counts steps, lets the loss fall, takes commands at step boundaries
// and records through the real Recorder.
#pragma once
#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "app/workbench/Workbench.h"
#include "core/base/Channel.h"
#include "core/events/Event.h"

namespace stepscope {

class Recorder;

class FakeRun : public Run {
public:
    FakeRun(RunRequest request, std::shared_ptr<const SessionInfo> info, std::unique_ptr<Recorder> recorder, EventSink& sink, double stepMs,
            std::string refusal);
    ~FakeRun() override;
    void send(Command command) override { m_commands.push(std::move(command)); }
    bool done() const override { return m_done; }
    RunSummary wait() override;

private:
    void work();
    void publish(Event event);
    void step();
    void sample();
    void measure(const Measure& asked);
    void capture(std::int64_t firstStep, std::int64_t steps);
    void turn();
    void judge(bool over, const std::string& outcome);
    bool obey(const Command& command);  // false = stop
    void setState(RunState state, std::string why = {});

    RunRequest m_request;
    std::shared_ptr<const SessionInfo> m_info;
    std::unique_ptr<Recorder> m_recorder;
    EventSink& m_sink;
    double m_stepMs;
    std::string m_refusal;
    RunConfig m_config;
    SessionClock m_clock;
    Channel<Command> m_commands;
    std::int64_t m_step = 0, m_kept = -1;
    double m_loss = kUnknown;
    std::optional<Measure> m_measured;  // takes turns
    int m_blocks = 0;                   // of it
    std::vector<Capture> m_rounds;      // of a schedule, asked for at once
    bool m_paused = false;
    RunState m_state = RunState::Preparing;
    std::atomic<bool> m_done = false;
    std::jthread m_thread;
};

}  // namespace stepscope
