// Fine-tuning after pruning, for the curve of it: a checkpoint's run goes on for some steps with weights pruned and their zeros kept, on its own
// training text, at the learning rate that its schedule had come to. Nothing is recorded and the checkpoint stays as it is. Asked by MeasureForms, on
// its thread, which holds the turn at the processors.
#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "core/inference/GeneratorWeights.h"
#include "core/inference/Pruning.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

class FineTuning {
public:
    // Opens the checkpoint and its data, and asks whether a step has the memory it needs. threads: 0 = as the run had.
    static Result<std::unique_ptr<FineTuning>> open(const std::string& from, std::int64_t threads, const std::atomic<bool>& cancelled);

    // The checkpoint's weights, pruned, after so many steps, on the CPU. `ended` is asked between steps: Cancelled.
    Result<GeneratorWeights> tuned(const Pruning& pruning, std::int64_t steps, const std::function<bool()>& ended);

private:
    FineTuning(RunPlan plan, std::shared_ptr<const BatchSource> batches, TrainState start, double rate);

    Registry m_registry;
    RunPlan m_plan;
    std::shared_ptr<const BatchSource> m_batches;
    TrainState m_start;  // on the CPU, as the checkpoint has it
    double m_rate;
};

}  // namespace stepscope
