// An experiment without torch for the window's tests: a thread that publishes what a real one does, pair by pair, with a ratio and an ending that the
// test chose, and records through the real Recorder.
#pragma once
#include <atomic>
#include <memory>
#include <thread>

#include "FakeWorkbench.h"
#include "core/events/Event.h"

namespace stepscope {

class Recorder;

class FakeExperiment : public Run {
public:
    FakeExperiment(ExperimentRequest request, FakeExperimentPlan plan, std::shared_ptr<const SessionInfo> info, std::unique_ptr<Recorder> recorder,
                   EventSink& sink);
    ~FakeExperiment() override;
    void send(Command command) override;
    bool done() const override { return m_done; }
    RunSummary wait() override;

private:
    void work();
    void publish(Event event);
    void pilot();
    void pair(int number);
    void block(int pair, bool second, Arm arm);
    void capture(Arm arm);
    void end(RunState state, const std::string& why = {});
    ExperimentJudged judge(bool over) const;

    ExperimentRequest m_request;
    FakeExperimentPlan m_plan;
    std::shared_ptr<const SessionInfo> m_info;
    std::unique_ptr<Recorder> m_recorder;
    EventSink& m_sink;
    SessionClock m_clock;
    int m_pairs = 0, m_left = 0;
    std::atomic<bool> m_stop = false, m_done = false;
    RunState m_state = RunState::Preparing;
    std::string m_why;
    std::jthread m_thread;
};

}  // namespace stepscope
