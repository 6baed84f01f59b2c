// The fields of every stored event, once: fields(io, event) names them in the order of the table's columns. The same list makes
// the SQL, binds a row and reads it back, so the two directions cannot drift apart. Whoever adds an event adds it here, in
// StoredEvents and in a migration; a missing one does not compile. Called on the recorder and reader threads.
#pragma once
#include <array>
#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/events/CaptureDone.h"
#include "core/events/Experiment.h"
#include "core/events/RunEvents.h"
#include "core/events/Study.h"

namespace stepscope {

template <class T, class E>
concept Like = std::same_as<std::remove_const_t<T>, E>;

template <class E>
struct Table;  // the name of the table of one kind of event

// Every kind but SessionStarted, which is the session's own row.
using StoredEvents =
    std::tuple<StepDone, ValidationDone, SwitchApplied, SwitchRefused, DeviceSample, LogLine, StateChanged, CheckpointSaved, TextGenerated, Preparing,
               RecorderWaited, CaptureDone, ExperimentBegan, BlockDone, ExperimentJudged, StudyBegan, StudyRow>;

// Of the phases up to the optimizer; waiting came later and has its column behind all others.
constexpr std::array<const char*, kPhases - 1> kPhaseColumns{"batch_ns", "copy_ns", "forward_ns", "backward_ns", "clip_ns", "optimizer_ns"};

// What a sentence beside them says, as data.
void reason(auto& io, auto& e) {
    io("code", e.code);
    io("subject_kind", e.subject.kind);
    io("subject", e.subject.name);
}

template <>
struct Table<StepDone> {
    static constexpr const char* name = "steps";
};
void fields(auto& io, Like<StepDone> auto& e) {
    io("step", e.step);
    io("duration_ns", e.duration);
    io("loss", e.loss);
    io("learning_rate", e.learningRate);
    io("gradient_norm", e.gradientNorm);
    io("loss_scale", e.lossScale);
    io("skipped", e.skipped);
    io("tokens", e.tokens);
    for (std::size_t phase = 0; phase < kPhaseColumns.size(); ++phase) io(kPhaseColumns[phase], e.phaseNs[phase]);
    io("resident_bytes", e.residentBytes);
    io("allocated_bytes", e.allocatedBytes);
    io("page_faults", e.pageFaults);
    io("disturbed", e.disturbed);
    io("operations", e.operations);
    io("peak_bytes", e.peakBytes);
    io("waiting_ns", e.phaseNs[static_cast<std::size_t>(Phase::Waiting)]);
}

template <>
struct Table<ValidationDone> {
    static constexpr const char* name = "validations";
};
void fields(auto& io, Like<ValidationDone> auto& e) {
    io("step", e.step);
    io("duration_ns", e.duration);
    io("loss", e.loss);
}

template <>
struct Table<SwitchApplied> {
    static constexpr const char* name = "switches_applied";
};
void fields(auto& io, Like<SwitchApplied> auto& e) {
    io("step", e.step);
    io("switch", e.id);
    io("from_value", e.from);
    io("to_value", e.to);
    io("note", e.note);
}

template <>
struct Table<SwitchRefused> {
    static constexpr const char* name = "switches_refused";
};
void fields(auto& io, Like<SwitchRefused> auto& e) {
    io("step", e.step);
    io("switch", e.id);
    io("value", e.value);
    io("why", e.why);
    reason(io, e);
}

template <>
struct Table<DeviceSample> {
    static constexpr const char* name = "device_samples";
};
void fields(auto& io, Like<DeviceSample> auto& e) {
    io("cpu_pct", e.cpuPct);
    io("resident_bytes", e.residentBytes);
    io("available_bytes", e.availableBytes);
    io("gpu_pct", e.gpuPct);
    io("gpu_memory_bytes", e.gpuMemoryBytes);
    io("gpu_power_w", e.gpuPowerW);
    io("gpu_temperature_c", e.gpuTemperatureC);
    io("gpu_clock_mhz", e.gpuClockMhz);
    io("others_pct", e.othersPct);
    io("steal_pct", e.stealPct);
    io("cpu_clock_mhz", e.cpuClockMhz);
    io("cpu_temperature_c", e.cpuTemperatureC);
    io("cpu_power_w", e.cpuPowerW);
    io("cpu_energy_j", e.cpuEnergyJ);
    io("throttled_pct", e.throttledPct);
    io("gpu_other_processes", e.gpuOtherProcesses);
    io("gpu_others_busy_pct", e.gpuOthersBusyPct);
}

template <>
struct Table<LogLine> {
    static constexpr const char* name = "log_lines";
};
void fields(auto& io, Like<LogLine> auto& e) {
    io("step", e.step);
    io("level", e.level);
    io("text", e.text);
    reason(io, e);
}

template <>
struct Table<StateChanged> {
    static constexpr const char* name = "states";
};
void fields(auto& io, Like<StateChanged> auto& e) {
    io("step", e.step);
    io("state", e.state);
    io("why", e.why);
    reason(io, e);
}

template <>
struct Table<CheckpointSaved> {
    static constexpr const char* name = "checkpoints";
};
void fields(auto& io, Like<CheckpointSaved> auto& e) {
    io("step", e.step);
    io("duration_ns", e.duration);
    io("path", e.path);
}

template <>
struct Table<TextGenerated> {
    static constexpr const char* name = "texts";
};
void fields(auto& io, Like<TextGenerated> auto& e) {
    io("step", e.step);
    io("prompt", e.prompt);
    io("text", e.text);
    io("complete", e.complete);
}

template <>
struct Table<Preparing> {
    static constexpr const char* name = "preparations";
};
void fields(auto& io, Like<Preparing> auto& e) {
    io("what", e.what);
    io("fraction", e.fraction);
}

template <>
struct Table<RecorderWaited> {
    static constexpr const char* name = "recorder_waits";
};
void fields(auto& io, Like<RecorderWaited> auto& e) {
    io("waited_ns", e.waited);
}

template <>
struct Table<CaptureDone> {
    static constexpr const char* name = "captures";
};
// Its rows are in a table of their own, below.
void fields(auto& io, Like<CaptureDone> auto& e) {
    io("step", e.step);
    io("duration_ns", e.duration);
    io("first_step", e.firstStep);
    io("steps", e.steps);
    io("operations", e.operations);
    io("left_out", e.leftOut);
    io("record_ns", e.always.recordNs);
    io("phases_ns", e.always.phasesNs);
}

template <>
struct Table<ExperimentBegan> {
    static constexpr const char* name = "experiments";
};
void fields(auto& io, Like<ExperimentBegan> auto& e) {
    io("step", e.step);
    io("config_a", e.configA);
    io("config_b", e.configB);
    io("question", e.question);
    io("same", e.same);
    io("seed", e.seed);
    io("budget_s", e.budgetSeconds);
    io("delta", e.delta);
    io("alpha", e.alpha);
    io("swapped", e.swapped);
    io("comparison", e.comparison);
    io("from_checkpoint", e.from);
    io("from_weights", e.init);
    io("captures", e.captures);
    io("loss_seconds", e.lossSeconds);
    io("loss_seeds", e.lossSeeds);
    io("final_look", e.finalLook);
}

template <>
struct Table<BlockDone> {
    static constexpr const char* name = "blocks";
};
void fields(auto& io, Like<BlockDone> auto& e) {
    io("step", e.step);
    io("duration_ns", e.duration);
    io("pair", e.pair);
    io("arm", e.arm);
    io("second", e.second);
    io("rebuild", e.rebuild);
    io("warm_up", e.warmUp);
    io("steps", e.steps);
    io("tokens", e.tokens);
    io("turn_ns", e.turn);
    io("median_ns", e.median);
    io("slowest_ns", e.slowest);
    io("loss", e.loss);
    io("others", e.others);
    io("steal_pct", e.stealPct);
    io("page_faults", e.pageFaults);
    io("peak_bytes", e.peakBytes);
    io("operations", e.operations);
    io("joules", e.joules);
}

template <>
struct Table<ExperimentJudged> {
    static constexpr const char* name = "judgements";
};
void fields(auto& io, Like<ExperimentJudged> auto& e) {
    io("step", e.step);
    io("over", e.over);
    io("pair", e.pair);
    io("difference", e.difference);
    io("same_arm", e.sameArm);
    io("same_arm_turned", e.sameArmTurned);
    io("rebuild", e.rebuild);
    io("discarded", e.discarded);
    io("outcome", e.outcome);
    io("reason", e.reason);
    io("why", e.why);
    io("ratio", e.ratio);
    io("low", e.low);
    io("high", e.high);
    io("floor", e.floor);
    io("rare_slow_steps", e.rareSlowSteps);
    io("pairs", e.pairs);
    io("left_out", e.left);
    io("rebuilds", e.rebuilds);
    io("seconds_to_go", e.secondsToGo);
    io("seconds", e.seconds);
    io("pilot_variance", e.pilotVariance);
    io("pilot_mad", e.pilotMad);
    io("others_limit", e.othersLimit);
    io("pilot_pairs", e.pilotPairs);
    io("pairs_a_rebuild", e.pairsARebuild);
    io("equal_seconds", e.equalTime.seconds);
    io("equal_seeds", e.equalTime.seeds);
    io("equal_loss_a", e.equalTime.a);
    io("equal_loss_b", e.equalTime.b);
    io("equal_difference", e.equalTime.difference);
    io("equal_low", e.equalTime.low);
    io("equal_high", e.equalTime.high);
    io("equal_steps_a", e.equalTime.stepsA);
    io("equal_steps_b", e.equalTime.stepsB);
}

template <>
struct Table<StudyBegan> {
    static constexpr const char* name = "studies";
};
void fields(auto& io, Like<StudyBegan> auto& e) {
    io("kind", e.kind);
    io("title", e.title);
    io("source", e.source);
    io("unit", e.unit);
    io("config", e.config);
    io("question", e.question);
    io("budget_s", e.budgetSeconds);
    io("delta", e.delta);
    io("alpha", e.alpha);
    io("seed", e.seed);
    io("legs", e.legs);
    io("leave_one_out", e.leaveOneOut);
    io("pairs", e.pairs);
    io("final_look", e.finalLook);
}

template <>
struct Table<StudyRow> {
    static constexpr const char* name = "study_rows";
};
void fields(auto& io, Like<StudyRow> auto& e) {
    io("row", e.row);
    io("role", e.role);
    io("state", e.state);
    io("name", e.name);
    io("settings", e.settings);
    io("reported", e.reported);
    io("why", e.why);
    io("outcome", e.outcome);
    io("ratio", e.ratio);
    io("low", e.low);
    io("high", e.high);
    io("total", e.total);
    io("total_low", e.totalLow);
    io("total_high", e.totalHigh);
    io("step_ms", e.msPerStep);
    io("tokens_per_s", e.tokensPerSecond);
    io("peak_bytes", e.peakBytes);
    io("operations", e.operations);
    io("loss", e.loss);
    io("floor", e.floor);
    io("pairs", e.pairs);
    io("seconds", e.seconds);
    io("kept_session", e.keptSession);
    io("kept_versions", e.keptVersions);
    io("waits", e.waits);
    io("arithmetic", e.arithmetic);
}

// A row of its table is keyed by the capture's (session, at_ns, seq) and its position.
constexpr const char* kCapturedOperations = "captured_operations";
void fields(auto& io, Like<CapturedOperation> auto& row) {
    io("name", row.name);
    io("kind", row.kind);
    io("phase", row.phase);
    io("role", row.role);
    io("ours", row.ours);
    io("runs", row.runs);
    io("launches", row.launches);
    io("total_ns", row.total);
    io("self_ns", row.self);
}

// The columns after (session, at_ns, seq), in order.
template <class E>
std::vector<std::string> columnsOf() {
    std::vector<std::string> names;
    auto collect = [&](const char* name, const auto&) { names.emplace_back(name); };
    const E example{};
    fields(collect, example);
    return names;
}

}  // namespace stepscope
