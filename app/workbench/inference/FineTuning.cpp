#include "app/workbench/inference/FineTuning.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/MemoryNeed.h"
#include "app/workbench/StartingState.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "core/data/BatchSource.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Schedule.h"
#include "core/profile/MachineProbe.h"
#include "core/state/Zeros.h"

namespace stepscope {

FineTuning::FineTuning(RunPlan plan, std::shared_ptr<const BatchSource> batches, TrainState start, double rate)
    : m_registry(probeMachine()), m_plan(std::move(plan)), m_batches(std::move(batches)), m_start(std::move(start)), m_rate(rate) {}

Result<std::unique_ptr<FineTuning>> FineTuning::open(const std::string& from, std::int64_t threads, const std::atomic<bool>& cancelled) {
    const auto checkpoint = inspectCheckpoint(from);
    if (!checkpoint) return checkpoint.error();
    const Registry registry(probeMachine());
    auto config = registry.complete(checkpoint->config);
    if (!config) return config.error();
    if (threads > 0) config->threads = threads;
    // Zeros come with each pruning; the checkpoint itself may have none.
    config->keepZeros = "off";
    auto plan = registry.plan(*config);
    if (!plan) return plan.error();
    auto batches = openBatches(*plan, {}, cancelled);
    if (!batches) return batches.error();
    const Corpus& corpus = (*batches)->corpus();
    const std::int64_t used = config->threads > 0 ? config->threads : registry.machine().cores;
    auto start = startingState({.config = *config, .resume = from, .mayBeDone = true}, registry.modelShape(*plan, corpus.vocabulary), corpus, used);
    if (!start) return start.error();
    const double rate = learningRate(*config, std::max<std::int64_t>(1, start->state.updates));
    config->keepZeros = "on";
    if (auto good = checkConfig(*config); !good) return good.error();
    plan = registry.plan(*config, corpus.vocabulary);
    if (!plan) return plan.error();
    if (auto fits = checkMemory(*plan, estimateMemory(registry, *plan, {corpus.vocabulary, corpus.tokens->size()})); !fits) return fits.error();
    at::set_num_threads(static_cast<int>(used));
    return std::unique_ptr<FineTuning>(new FineTuning(std::move(*plan), std::move(*batches), std::move(start->state), rate));
}

Result<GeneratorWeights> FineTuning::tuned(const Pruning& pruning, std::int64_t steps, const std::function<bool()>& ended) {
    TrainState state = m_start.clone();
    state.bumpRevision();
    prune(state.weights, state.layout, state.config, pruning);
    restMomentsOfZeros(state);
    state.convert(m_registry.formOf(m_plan, state));
    {
        const auto program = m_registry.build(m_plan);
        for (std::int64_t step = 0; step < steps; ++step) {
            if (ended()) return makeError(ErrorCode::Cancelled, "Stopped before the fine-tuning had come to its end.");
            const StepResult result = program->step(state, *m_batches, m_rate);
            if (result.breakdown != Breakdown::None || !std::isfinite(result.loss))
                return makeError(ErrorCode::Training, fmt::format("The loss or a gradient was no number at step {} of the fine-tuning.", step + 1));
        }
    }
    state.moveTo(at::kCPU);
    return GeneratorWeights{state.config, state.layout, state.weights};
}

}  // namespace stepscope
