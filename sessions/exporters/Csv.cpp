#include "sessions/exporters/Csv.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <ostream>

#include "core/events/Event.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope {
namespace {

constexpr std::int64_t kEventsAtOnce = 4096;

std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string out = "\"";
    for (const char c : field) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

// Collects the lines of one chunk; numbers have as many digits as it takes to read the same number back.
class Lines {
public:
    explicit Lines(std::string run) : m_run(std::move(run)) {}

    void at(std::int64_t step, TimeNs time) {
        m_step = step;
        m_prefix = fmt::format("{},{},{:.9f},", m_run, step, time.seconds());
    }
    void at(TimeNs time) { at(m_step, time); }  // not of a step: the last one's number
    void add(const char* metric, double value) {
        if (!std::isnan(value)) fmt::format_to(std::back_inserter(m_text), "{}{},{}\n", m_prefix, metric, value);
    }
    void add(const char* metric, std::int64_t value) { fmt::format_to(std::back_inserter(m_text), "{}{},{}\n", m_prefix, metric, value); }
    std::string take() { return std::exchange(m_text, {}); }

private:
    std::string m_run, m_prefix, m_text;
    std::int64_t m_step = 0;
};

void addStep(Lines& lines, const StepDone& e) {
    lines.at(e.step, e.at);
    lines.add("loss", e.loss);
    lines.add("learning_rate", e.learningRate);
    lines.add("gradient_norm", e.gradientNorm);
    lines.add("loss_scale", e.lossScale);
    lines.add("step_ms", e.duration.milliseconds());
    lines.add("tokens", e.tokens);
    if (e.duration.ns > 0) lines.add("tokens_per_s", static_cast<double>(e.tokens) / e.duration.seconds());
    for (std::size_t phase = 0; phase < kPhases; ++phase)
        lines.add(fmt::format("phase_{}_ms", toString(static_cast<Phase>(phase))).c_str(), TimeNs{e.phaseNs[phase]}.milliseconds());
    lines.add("resident_bytes", e.residentBytes);
    lines.add("allocated_bytes", e.allocatedBytes);
    lines.add("peak_bytes", e.peakBytes);
    lines.add("page_faults", e.pageFaults);
    lines.add("operations", e.operations);
    lines.add("skipped", std::int64_t{e.skipped});
    lines.add("disturbed", std::int64_t{e.disturbed});
}

void addSample(Lines& lines, const DeviceSample& e) {
    lines.at(e.at);
    lines.add("cpu_pct", e.cpuPct);
    lines.add("sampled_resident_bytes", e.residentBytes);
    lines.add("available_bytes", e.availableBytes);
    lines.add("gpu_pct", e.gpuPct);
    lines.add("gpu_memory_bytes", e.gpuMemoryBytes);
    lines.add("gpu_power_w", e.gpuPowerW);
    lines.add("gpu_temperature_c", e.gpuTemperatureC);
    lines.add("gpu_clock_mhz", e.gpuClockMhz);
    lines.add("others_pct", e.othersPct);
    lines.add("steal_pct", e.stealPct);
}

void add(Lines& lines, const Event& event) {
    std::visit(Visitor{
                   [&](const SessionStarted&) {},
                   [&](const StepDone& e) { addStep(lines, e); },
                   [&](const ValidationDone& e) {
                       lines.at(e.step, e.at);
                       lines.add("validation_loss", e.loss);
                       lines.add("validation_ms", e.duration.milliseconds());
                   },
                   [&](const DeviceSample& e) { addSample(lines, e); },
                   [&](const CheckpointSaved& e) {
                       lines.at(e.step, e.at);
                       lines.add("checkpoint_ms", e.duration.milliseconds());
                   },
                   [&](const RecorderWaited& e) {
                       lines.at(e.at);
                       lines.add("recorder_waited_ms", e.waited.milliseconds());
                   },
                   [&](const CaptureDone& e) {
                       lines.at(e.step, e.at);
                       lines.add("captured_operations", e.operations);
                   },
                   [&](const BlockDone& e) {
                       lines.at(e.step, e.at);
                       lines.add(e.arm == Arm::A ? "block_a_ms" : "block_b_ms", e.duration.milliseconds());
                   },
                   [&](const ExperimentJudged& e) {
                       lines.at(e.step, e.at);
                       lines.add("pair_log_ratio", e.difference);
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

}  // namespace

Status exportCsv(const std::string& database, std::int64_t session, std::ostream& out) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    if (info->kind != SessionKind::Run)
        return makeError(ErrorCode::BadInput,
                         fmt::format("Session {} is no run ({}): it has no steps to write as CSV.", session, toString(info->kind)))
            .about(Subject::Kind::Session, std::to_string(session));
    Lines lines(quoted(info->name.empty() ? std::to_string(session) : info->name));
    out << "run,step,time,metric,value\n";
    for (std::int64_t from = 0;; from += kEventsAtOnce) {
        const auto events = (*reader)->events(session, from, kEventsAtOnce);
        if (!events) return events.error();
        if (events->empty()) break;
        for (const auto& event : *events) add(lines, event);
        out << lines.take();
        if (!out) break;
    }
    out.flush();
    if (out) return {};
    return makeError(ErrorCode::Io,
                     fmt::format("Session {} could not be written as CSV; check the free room and the permissions of the target.", session));
}

Status exportCsvFile(const std::string& database, std::int64_t session, const std::string& path) {
    return exportToFile(path, [&](std::ostream& out) { return exportCsv(database, session, out); });
}

}  // namespace stepscope
