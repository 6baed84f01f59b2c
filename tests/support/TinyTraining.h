// A small model, small data and a registry for tests of the loop: everything but the disk and the window.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/data/BatchSource.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/optimizations/registry/Registry.h"
#include "core/train/Trainer.h"

namespace stepscope::testing {

// Ids with structure (each depends on the one before), so that a model can learn something.
std::shared_ptr<const BatchSource> tinyBatches(std::int64_t vocabulary = 61, std::int64_t tokens = 20'000);

Machine plainCpu();

// Of plainCpu().
const Registry& registry();

// 2 layers, 2 heads, 16 wide, context 12, batch 4; complete. No checkpoint at the end.
RunConfig tinyConfig(const Registry& registry, std::int64_t steps = 10);

// The Program of a configuration that can run, and the State brought into the form that it needs.
std::unique_ptr<StepProgram> programOver(TrainState& state, const Registry& registry, const RunConfig& config);

// Of tinyConfig(registry()), over 61 tokens.
TrainState freshState();

// With switches that have words as values.
RunConfig with(RunConfig config, const std::vector<std::pair<std::string, std::string>>& words);

// Of every step of a run, which is expected to finish.
std::vector<double> lossesOf(const RunConfig& config);

class CollectingSink final : public EventSink {
public:
    void publish(Event event) override {
        std::lock_guard lock(m_mutex);
        m_events.push_back(std::move(event));
        if (onEvent) onEvent(m_events.back());
    }
    void publishChunk(ChunkPtr chunk) override {
        std::lock_guard lock(m_mutex);
        m_chunks.push_back(std::move(chunk));
    }
    std::vector<ChunkPtr> chunks() const {
        std::lock_guard lock(m_mutex);
        return m_chunks;
    }
    template <class T>
    std::vector<T> all() const {
        std::lock_guard lock(m_mutex);
        std::vector<T> found;
        for (const auto& event : m_events)
            if (const auto* one = std::get_if<T>(&event)) found.push_back(*one);
        return found;
    }
    std::vector<double> losses() const {
        std::vector<double> all;
        for (const auto& step : this->all<StepDone>()) all.push_back(step.loss);
        return all;
    }
    std::function<void(const Event&)> onEvent;  // called under the lock; may send commands

private:
    mutable std::mutex m_mutex;
    std::vector<Event> m_events;
    std::vector<ChunkPtr> m_chunks;
};

// Runs a Trainer to its end on this thread.
struct TinyTrainer {
    explicit TinyTrainer(const RunConfig& config, std::shared_ptr<const BatchSource> batches = tinyBatches());
    TrainerOutcome run();

    std::shared_ptr<const Registry> registry = std::make_shared<const Registry>(plainCpu());
    SessionClock clock;
    CollectingSink sink;
    Channel<Command> commands;
    std::atomic<int> disturbances{0};
    TrainerSetup setup;
};

}  // namespace stepscope::testing
