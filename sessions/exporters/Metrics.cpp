#include "sessions/exporters/Metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/events/Event.h"

namespace stepscope {
namespace {

constexpr std::int64_t kEventsAtOnce = 4096;

class Teller {
public:
    Teller(MetricSink& sink, const SessionInfo& info)
        : imported(info.kind == SessionKind::Trace), m_sink(sink), m_step(info.firstStep), m_timesUnknown(info.timesUnknown) {}
    const bool imported;

    void at(std::int64_t step, TimeNs time) { m_sink.at(m_step = step, known(time), MetricSink::Of::Step); }
    void machine(TimeNs time) { m_sink.at(m_step, known(time), MetricSink::Of::Machine); }  // not of a step: the last one's number
    void add(const char* metric, double value) {
        if (!std::isnan(value)) m_sink.value(metric, value);
    }
    void add(const char* metric, std::int64_t value) { m_sink.value(metric, value); }

private:
    std::optional<TimeNs> known(TimeNs time) const { return m_timesUnknown ? std::nullopt : std::optional(time); }

    MetricSink& m_sink;
    std::int64_t m_step;
    const bool m_timesUnknown;
};

// Of a step that another program made, what it said: what it did not say is 0 here, and that would be a number of ours.
void addImported(Teller& tell, const StepDone& e) {
    tell.at(e.step, e.at);
    tell.add("loss", e.loss);
    tell.add("learning_rate", e.learningRate);
    tell.add("gradient_norm", e.gradientNorm);
    if (e.duration.ns > 0) tell.add("step_ms", e.duration.milliseconds());
    if (e.tokens > 0) tell.add("tokens", e.tokens);
    if (e.tokens > 0 && e.duration.ns > 0) tell.add("tokens_per_s", static_cast<double>(e.tokens) / e.duration.seconds());
}

void addStep(Teller& tell, const StepDone& e) {
    if (tell.imported) return addImported(tell, e);
    tell.at(e.step, e.at);
    tell.add("loss", e.loss);
    tell.add("learning_rate", e.learningRate);
    tell.add("gradient_norm", e.gradientNorm);
    tell.add("loss_scale", e.lossScale);
    tell.add("step_ms", e.duration.milliseconds());
    tell.add("tokens", e.tokens);
    if (e.duration.ns > 0) tell.add("tokens_per_s", static_cast<double>(e.tokens) / e.duration.seconds());
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        if (phase == static_cast<std::size_t>(Phase::Waiting) && e.phaseNs[phase] == 0) continue;  // one worker: nothing to wait for
        tell.add(fmt::format("phase_{}_ms", toString(static_cast<Phase>(phase))).c_str(), TimeNs{e.phaseNs[phase]}.milliseconds());
    }
    tell.add("resident_bytes", e.residentBytes);
    tell.add("allocated_bytes", e.allocatedBytes);
    tell.add("peak_bytes", e.peakBytes);
    tell.add("page_faults", e.pageFaults);
    tell.add("operations", e.operations);
    tell.add("skipped", std::int64_t{e.skipped});
    tell.add("disturbed", std::int64_t{e.disturbed});
}

void addSample(Teller& tell, const DeviceSample& e) {
    tell.machine(e.at);
    tell.add("cpu_pct", e.cpuPct);
    tell.add("sampled_resident_bytes", e.residentBytes);
    tell.add("available_bytes", e.availableBytes);
    tell.add("gpu_pct", e.gpuPct);
    tell.add("gpu_memory_bytes", e.gpuMemoryBytes);
    tell.add("gpu_power_w", e.gpuPowerW);
    tell.add("gpu_temperature_c", e.gpuTemperatureC);
    tell.add("gpu_clock_mhz", e.gpuClockMhz);
    tell.add("others_pct", e.othersPct);
    tell.add("steal_pct", e.stealPct);
    tell.add("cpu_clock_mhz", e.cpuClockMhz);
    tell.add("cpu_temperature_c", e.cpuTemperatureC);
    tell.add("cpu_power_w", e.cpuPowerW);
    tell.add("cpu_energy_j", e.cpuEnergyJ);
    tell.add("throttled_pct", e.throttledPct);
    tell.add("gpu_other_processes", e.gpuOtherProcesses);
    tell.add("gpu_others_busy_pct", e.gpuOthersBusyPct);
}

void add(Teller& tell, const Event& event) {
    std::visit(Visitor{
                   [&](const SessionStarted&) {},
                   [&](const StepDone& e) { addStep(tell, e); },
                   [&](const ValidationDone& e) {
                       tell.at(e.step, e.at);
                       tell.add("validation_loss", e.loss);
                       if (!tell.imported) tell.add("validation_ms", e.duration.milliseconds());
                   },
                   [&](const DeviceSample& e) { addSample(tell, e); },
                   [&](const CheckpointSaved& e) {
                       tell.at(e.step, e.at);
                       tell.add("checkpoint_ms", e.duration.milliseconds());
                   },
                   [&](const RecorderWaited& e) {
                       tell.machine(e.at);
                       tell.add("recorder_waited_ms", e.waited.milliseconds());
                   },
                   [&](const CaptureDone& e) {
                       tell.at(e.step, e.at);
                       tell.add("captured_operations", e.operations);
                   },
                   [&](const BlockDone& e) {
                       tell.at(e.step, e.at);
                       tell.add(e.arm == Arm::A ? "block_a_ms" : "block_b_ms", e.duration.milliseconds());
                   },
                   [&](const ExperimentJudged& e) {
                       if (e.over) return;  // of all pairs together; what it says of the last one was told when that was made
                       tell.at(e.step, e.at);
                       tell.add("pair_log_ratio", e.difference);
                   },
                   [](const ExperimentBegan&) {},
                   [](const StudyBegan&) {},
                   [](const StudyRow&) {},
                   // Words, not numbers.
                   [](const SwitchApplied&) {},
                   [](const SwitchRefused&) {},
                   [](const LogLine&) {},
                   [](const StateChanged&) {},
                   [](const TextGenerated&) {},
                   [](const Preparing&) {},
               },
               event);
}

Result<bool> hasSteps(SessionReader& reader, std::int64_t session) {
    for (std::int64_t from = 0;; from += kEventsAtOnce) {
        const auto events = reader.events(session, from, kEventsAtOnce);
        if (!events) return events.error();
        if (events->empty()) return false;
        for (const auto& event : *events)
            if (std::holds_alternative<StepDone>(event) || std::holds_alternative<ValidationDone>(event)) return true;
    }
}

}  // namespace

bool isOfMachine(std::string_view metric) {
    // As addSample and RecorderWaited name them.
    static constexpr std::array kOfMachine{"cpu_pct",
                                           "sampled_resident_bytes",
                                           "available_bytes",
                                           "gpu_pct",
                                           "gpu_memory_bytes",
                                           "gpu_power_w",
                                           "gpu_temperature_c",
                                           "gpu_clock_mhz",
                                           "others_pct",
                                           "steal_pct",
                                           "cpu_clock_mhz",
                                           "cpu_temperature_c",
                                           "cpu_power_w",
                                           "cpu_energy_j",
                                           "throttled_pct",
                                           "gpu_other_processes",
                                           "gpu_others_busy_pct",
                                           "recorder_waited_ms"};
    return std::ranges::find(kOfMachine, metric) != kOfMachine.end();
}

Status forEachMetric(SessionReader& reader, std::int64_t session, const char* what, MetricSink& sink, const std::function<Status()>& page) {
    const auto info = reader.info(session);
    if (!info) return info.error();
    if (info->kind != SessionKind::Run) {
        const auto some = hasSteps(reader, session);
        if (!some) return some.error();
        if (!*some)
            return makeError(ErrorCode::BadInput,
                             fmt::format("Session {} is no run ({}): it has no steps to write as {}.", session, toString(info->kind), what))
                .about(Subject::Kind::Session, std::to_string(session));
    }
    Teller tell(sink, *info);
    for (std::int64_t from = 0;; from += kEventsAtOnce) {
        const auto events = reader.events(session, from, kEventsAtOnce);
        if (!events) return events.error();
        if (events->empty()) return {};
        for (const auto& event : *events) add(tell, event);
        if (auto done = page(); !done) return done;
    }
}

}  // namespace stepscope
