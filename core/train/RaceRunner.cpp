#include "core/train/RaceRunner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/profile/ProcessUsage.h"
#include "core/train/Failure.h"
#include "core/train/Settling.h"

namespace stepscope {
RaceRunner::RaceRunner(RaceRunnerSetup setup) : m_setup(std::move(setup)), m_processors(usableProcessors()), m_begin(m_setup.clock->now()) {}

RaceBlock RaceRunner::run(const RunConfig& config, const RunPlan& plan, const RaceOrder& order) {
    const TimeNs begin = m_setup.clock->now();
    RaceBlock block;
    try {
        block = timed(config, plan, order);
    } catch (const std::exception& thrown) {
        block.times.failure = describeException(thrown).sentence;
    }
    device_memory::trim(at::Device(plan.device()));
    const TimeNs now = m_setup.clock->now();
    block.times.seconds = (now - begin).seconds();
    block.times.elapsed = (now - m_begin).seconds();
    block.stopped = stopAsked();
    return block;
}

RaceBlock RaceRunner::timed(const RunConfig& config, const RunPlan& plan, const RaceOrder& order) {
    RaceBlock block;
    block.times.others = kUnknown;
    const at::Device device(plan.device());
    const std::int64_t liveBefore = device_memory::live(device).count;
    const auto processorsBefore = processorTimes(m_processors);
    const std::int64_t ownBefore = processorNs();
    TrainState state = m_setup.start->clone(device);
    state.convert(m_setup.factory->formOf(plan, state));
    const auto program = m_setup.factory->build(plan);
    program->prepare(state);
    std::int64_t tokens = 0;
    const auto step = [&] {
        const TimeNs begin = m_setup.clock->now();
        const StepResult result = program->step(state, *m_setup.batches, learningRate(config, state.updates + 1));
        device_memory::synchronise(device);
        if (result.breakdown != Breakdown::None || !std::isfinite(result.loss))
            block.times.failure = fmt::format("It diverged: its loss or a gradient was no number at step {}.", state.updates + 1);
        tokens += result.skipped ? 0 : result.tokens;
        return (m_setup.clock->now() - begin).seconds();
    };
    const auto conclude = [&](double seconds, std::int64_t steps) {
        block.times.perToken = tokens > 0 ? seconds / static_cast<double>(tokens) : kUnknown;
        block.times.msPerStep = seconds / static_cast<double>(steps) * 1e3;
        block.tokensPerSecond = 1 / block.times.perToken;
        if (tokens == 0 && block.times.failure.empty()) block.times.failure = "Every update was left out because float16 overflowed.";
    };
    const int settling = order.settlesOnce && plan.execution != Execution::Captured ? 1 : settlingSteps(plan);
    for (int i = 0; i < settling && !stopAsked(); ++i) {
        tokens = 0;
        const double seconds = step();
        if (!block.times.failure.empty()) return block;
        // The first may pack weights; a later one that takes so long says enough.
        if (i > 0 && order.giveUpSeconds > 0 && seconds > order.giveUpSeconds) {
            conclude(seconds, 1);
            return block;
        }
    }
    device_memory::takePeak(device);
    tokens = 0;
    std::int64_t steps = 0;
    const TimeNs begin = m_setup.clock->now();
    double seconds = 0;
    while (!stopAsked() && (steps < order.steps || seconds < order.leastSeconds)) {
        const double own = step();
        if (!block.times.failure.empty()) return block;
        ++steps;
        seconds = (m_setup.clock->now() - begin).seconds();
        if (order.settlesOnce && order.giveUpSeconds > 0 && own > order.giveUpSeconds) break;
    }
    if (steps == 0) return block;
    conclude(seconds, steps);
    if (const Bytes peak = device_memory::takePeak(device); peak.count > 0)
        block.peakBytes = static_cast<double>(peak.count - liveBefore + program->report().graphBytes);
    if (const auto after = processorTimes(m_processors); processorsBefore && after)
        if (const auto shares = sharesBetween(*processorsBefore, *after, processorNs() - ownBefore))
            block.times.others = shares->othersPct / 100 * static_cast<double>(m_processors.size());
    return block;
}

}  // namespace stepscope
