// A run that never was, for tests and benches of the charts.
#include "SyntheticRun.h"

#include <algorithm>
#include <cmath>

#include "core/base/CounterRandom.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"

namespace stepscope {
namespace {

double uniform(std::uint64_t stream, std::int64_t counter) {
    return static_cast<double>(counterRandom(1, stream, static_cast<std::uint64_t>(counter)) >> 11) * 0x1p-53;
}
double normal(std::uint64_t stream, std::int64_t counter) {
    return std::sqrt(-2 * std::log(uniform(stream, 2 * counter) + 1e-12)) * std::cos(6.283185307 * uniform(stream, 2 * counter + 1));
}

}  // namespace

RunConfig SyntheticRun::config() const {
    RunConfig config;
    config.steps = planned;
    config.switches["batch-size"] = std::int64_t{12};
    config.switches["context"] = std::int64_t{128};
    config.switches["grad-clip"] = clips ? 1.0 : 0.0;
    return config;
}

void SyntheticRun::appendSteps(RunHistory& history, std::int64_t from, std::int64_t to) const {
    const RunConfig config = this->config();
    double seconds = history.last().seconds > 0 ? history.last().seconds : 1.5;
    double sampled = seconds;
    const double length = static_cast<double>(planned);
    for (std::int64_t i = from + 1; i <= to; ++i) {
        const double progress = static_cast<double>(i) / length;
        const bool bf16 = events && progress > 0.22, fused = events && progress > 0.41;
        const double speed = (bf16 ? 0.72 : 1) * (fused ? 0.78 : 1);
        const double slow = i <= slowSteps ? 40 : uniform(2, i) > 0.995 ? 1.7 : 1;
        const double forward = msPerStep * 0.31 * speed * slow * (1 + 0.03 * normal(3, i)),
                     backward = msPerStep * 0.55 * speed * (1 + 0.03 * normal(4, i));
        const double batch = 0.12, clip = 0.25, optimizer = msPerStep * 0.09 * (1 + 0.02 * normal(5, i)), other = 0.2;
        StepDone step;
        step.step = i;
        step.duration = TimeNs::fromSeconds((batch + forward + backward + clip + optimizer + other) / 1000);
        seconds += step.duration.seconds();
        step.at = TimeNs::fromSeconds(seconds);
        step.loss = 1.45 + 4.1 * std::exp(-static_cast<double>(i) / (length * 0.09)) + 0.35 * std::exp(-static_cast<double>(i) / (length * 0.6)) +
                    0.045 * normal(6, i);
        step.learningRate = learningRate(config, i);
        if (clips) step.gradientNorm = 0.6 + 4 * std::exp(-static_cast<double>(i) / (length * 0.03)) + 0.1 * std::abs(normal(7, i));
        if (fp16) {
            step.lossScale = 65536 / std::exp2(static_cast<double>(i / 300));
            step.skipped = i % 300 == 299;
            if (step.skipped) step.gradientNorm = kUnknown;
        }
        step.tokens = 12 * 128;
        const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
        step.phaseNs = {ns(batch), 0, ns(forward), ns(backward), ns(clip), ns(optimizer)};
        step.residentBytes = 612'000'000;
        step.pageFaults = bf16 ? 12 : 8000;
        history.append(step);
        if (seconds - sampled > 0.5) {
            sampled = seconds;
            DeviceSample sample;
            sample.at = step.at;
            sample.cpuPct = 96 + 2 * normal(8, i);
            sample.residentBytes = static_cast<std::int64_t>(612e6 + 40e6 * (bf16 ? 1 : 0) + 3e6 * normal(9, i));
            sample.availableBytes = 6'100'000'000;
            if (gpu) {
                sample.gpuPct = 71 + 5 * normal(10, i);
                sample.gpuMemoryBytes = 2.4e9;
            }
            history.append(sample);
        }
        if (flips > 0 && i > planned / 2 && (i - planned / 2) % std::max<std::int64_t>(1, planned / 2 / flips) == 0) {
            const std::string value = std::to_string((i - planned / 2) / std::max<std::int64_t>(1, planned / 2 / flips));
            history.append(SwitchApplied{i, step.at, "fusion-number", std::string("off"), value, ""});
        }
        if (!events) continue;
        const auto every = std::max<std::int64_t>(1, planned / 20);
        if (i % every == 0) history.append(ValidationDone{i, step.at, TimeNs::fromSeconds(0.1), step.loss + 0.06});
        if (i % (every * 5) == 0) history.append(CheckpointSaved{i, step.at, TimeNs::fromSeconds(0.2), "checkpoints/" + std::to_string(i)});
        if (i == static_cast<std::int64_t>(length * 0.22))
            history.append(SwitchApplied{i, step.at, "amp", std::string("off"), std::string("bf16"), ""});
        if (i == static_cast<std::int64_t>(length * 0.41)) {
            history.append(SwitchApplied{i, step.at, "attention", std::string("manual"), std::string("sdpa"), "sdpa-flash ran."});
            history.append(SwitchApplied{i, step.at, "fused-cross-entropy", std::string("off"), std::string("on"), ""});
        }
    }
}

std::shared_ptr<RunHistory> SyntheticRun::history() const {
    auto history = std::make_shared<RunHistory>();
    auto info = std::make_shared<SessionInfo>();
    info->name = "synthetic";
    info->config = config();
    info->machine->cores = 2;
    history->append(SessionStarted{1, info, false});
    history->append(StateChanged{{}, 0, RunState::Running, ""});
    appendSteps(*history, 0, steps);
    history->append(StateChanged{TimeNs::fromSeconds(history->last().seconds), steps, state, ""});
    return history;
}

}  // namespace stepscope
