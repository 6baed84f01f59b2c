// LiveExperiment: one experiment of two configurations that take turns, stored as a session of its own kind: prepares data and States, opens the
// recorder and runs the Comparison, all on its own thread.
#pragma once
#include <memory>
#include <mutex>
#include <thread>

#include "app/workbench/EventTee.h"
#include "core/optimizations/registry/Registry.h"
#include "core/train/Comparison.h"

namespace stepscope {

class LiveExperiment final : public Run {
public:
    // Both configurations are complete. The sink outlives the experiment.
    LiveExperiment(ExperimentRequest request, std::array<RunPlan, 2> plans, std::shared_ptr<const Registry> registry, EventSink& sink);
    ~LiveExperiment() override;

    void send(Command command) override;  // Stop ends it, and keeps what is known; others mean nothing to it
    bool done() const override { return m_done.load(); }
    RunSummary wait() override;

private:
    void work();
    Result<ComparisonSetup> prepare();
    Result<std::shared_ptr<const BatchSource>> openData();
    Result<bool> fits(const Corpus& corpus, const std::array<GptConfig, 2>& shapes) const;
    bool oneStart(const std::array<GptConfig, 2>& shapes) const;
    Status openSession(const ComparisonSetup& setup, const std::vector<std::string>& notes);
    void publishState(RunState state, const Error& why);

    ExperimentRequest m_request;
    std::array<RunPlan, 2> m_plans;
    std::shared_ptr<const Registry> m_registry;
    SessionClock m_clock;
    EventTee m_tee;
    std::shared_ptr<Recorder> m_recorder;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_measured{false};  // what is left is to store it
    std::atomic<bool> m_done{false};
    std::mutex m_joining;  // who waits for its end may be several
    std::mutex m_mutex;
    Error m_error;
    Status m_stored;
    std::jthread m_thread;  // last: it uses everything above
};

}  // namespace stepscope
