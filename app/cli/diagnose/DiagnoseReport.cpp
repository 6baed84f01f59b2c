#include "app/cli/diagnose/DiagnoseReport.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/cli/TrainReport.h"
#include "app/cli/diagnose/BenchReport.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

std::string sizeOr(std::int64_t bytes, const char* otherwise) {
    return bytes >= 0 ? format::bytes({bytes}) : otherwise;
}

std::string testWords(const Advice& advice, const std::string& testLine) {
    if (advice.besideItself) return testLine + " --aa";
    return testLine + " --b " + shellWord(advice.key + "=" + advice.value) + (advice.learns ? " --loss-after 60" : "");
}

Json machineJson(const Machine& machine) {
    Json gpus = Json::array();
    for (const Gpu& gpu : machine.gpus)
        gpus.push_back(
            {{"name", gpu.name}, {"memory_bytes", gpu.memory.count}, {"compute", fmt::format("{}.{}", gpu.computeMajor, gpu.computeMinor)}});
    return {{"cpu", machine.cpu},
            {"cores", machine.cores},
            {"instructions", machine.instructions},
            {"memory_bytes", machine.memory.count},
            {"system", machine.system},
            {"gpus", std::move(gpus)},
            {"driver", machine.driver.empty() ? Json(nullptr) : Json(machine.driver)},
            {"why_no_gpu", machine.whyNoCuda.empty() ? Json(nullptr) : Json(machine.whyNoCuda)},
            {"why_no_processor_energy", machine.whyNoProcessorEnergy.empty() ? Json(nullptr) : Json(machine.whyNoProcessorEnergy)},
            {"libtorch", machine.libtorch},
            {"stepscope", machine.stepscope}};
}

Json switchesJson(const Diagnosis& found) {
    Json all = Json::array();
    for (const SwitchInfo& entry : found.switches) {
        Json refused = Json::object();
        for (const auto& [choice, why] : entry.refusedChoices) refused[choice] = why;
        const auto now = found.config.switches.find(entry.id);
        all.push_back({{"id", entry.id},
                       {"value", now == found.config.switches.end() ? Json(nullptr) : toJson(now->second)},
                       {"usable", entry.applicable.usable},
                       {"reason", entry.applicable.reason},
                       {"refused", std::move(refused)},
                       {"fallback", entry.fallback},
                       {"note", entry.note}});
    }
    return all;
}

Json adviceJson(const Diagnosis& found, const std::string& testLine) {
    Json all = Json::array();
    for (const Advice& advice : found.advice) {
        Json evidence = Json::array();
        for (const Evidence& one : advice.evidence) evidence.push_back({{"name", one.name}, {"value", number(one.value)}, {"text", one.text}});
        all.push_back({{"rule", advice.rule},
                       {"title", advice.title},
                       {"sentence", advice.sentence},
                       {"threshold", advice.threshold},
                       {"evidence", std::move(evidence)},
                       {"test", advice.besideItself ? Json(nullptr) : Json(advice.key + "=" + advice.value)},
                       {"ab", advice.inSteps ? Json(testWords(advice, testLine)) : Json(nullptr)}});
    }
    return all;
}

std::string machineText(const Diagnosis& found) {
    const Machine& machine = found.machine;
    std::string text = fmt::format("Machine    {}, {} core{}, {} of memory, {} available\n", machine.cpu, machine.cores,
                                   machine.cores == 1 ? "" : "s", format::bytes(machine.memory), format::bytes(found.availableMemory));
    text += fmt::format("           {}; {}; LibTorch {}\n",
                        machine.instructions.empty() ? "no wide instruction sets" : fmt::format("{}", fmt::join(machine.instructions, " ")),
                        machine.system, machine.libtorch);
    for (const Gpu& gpu : machine.gpus)
        text += fmt::format("GPU        {}, {}, compute capability {}.{}, driver {}\n", gpu.name, format::bytes(gpu.memory), gpu.computeMajor,
                            gpu.computeMinor, machine.driver);
    if (machine.gpus.empty() && !machine.whyNoCuda.empty()) text += "GPU        none: " + machine.whyNoCuda + "\n";
    if (!machine.whyNoProcessorEnergy.empty()) text += "Power      unknown: " + machine.whyNoProcessorEnergy + "\n";
    text += fmt::format("Disk       {} free in {}; the checkpoints of this run take at most about {}\n",
                        sizeOr(found.disk.freeBytes, "nobody can tell how much is"), found.disk.place, format::bytes({found.disk.checkpointBytes}));
    return text;
}

std::string dataText(const DataFacts& data) {
    if (data.description.empty()) return fmt::format("Data       {}: cannot be read\n", data.name);
    return fmt::format("Data       {} ({}, {})\n           {} tokens to train on, {} to validate on, {} ids; this run reads them {} times\n",
                       data.description, sizeOr(data.bytes, "made here"), data.encoding, format::count(data.trainTokens),
                       format::count(data.validationTokens), format::count(data.vocabulary), format::significant(data.epochs));
}

// Of the steps that were timed, beside what was predicted of exactly those: 0.03: 3 % more.
double memoryError(const Diagnosis& found) {
    if (!found.timing || found.timing->memory.tensors.count <= 0) return kUnknown;
    return found.timing->peakBytes / static_cast<double>(found.timing->memory.tensors.count) - 1;
}

std::string memoryText(const Diagnosis& found) {
    const Workbench::Estimate& memory = found.memory;
    if (memory.total.count == 0) return "";
    std::string text = fmt::format(
        "Model      {} parameters: {} layers, {} heads, {} wide\nMemory     {} predicted of {} available: {}\n           the largest micro-batch "
        "that leaves "
        "a tenth free: {} sequences\n",
        format::count(memory.parameters), found.config.layers, found.config.heads, found.config.width, format::bytes(memory.total),
        format::bytes(memory.available), memory.parts, format::count(found.batchThatFits));
    const double error = memoryError(found);
    if (std::isfinite(error))
        text += fmt::format("           the timed steps held {} of tensors at the most; {} were foretold: {}\n",
                            format::bytes(found.timing->peakBytes), format::bytes(found.timing->memory.tensors), offWords(1 + error));
    return text;
}

std::string toldText(const ToldBefore& before) {
    std::string text;
    const auto add = [&](const std::string& words) { text += fmt::format("{} {}\n", text.empty() ? "Foretold  " : "          ", words); };
    for (const ForetoldRun& run : before.runs) {
        const std::string place = fmt::format("session {}: ", run.session);
        if (run.time) add(place + forecastBesideOutcome(*run.time));
        if (const std::string memory = memoryOutcome(run); !memory.empty()) add(place + memory);
    }
    for (const auto& [foretold, answer] : before.changes)
        add(fmt::format("{}: ×{:.2f} as fast foretold, ×{:.2f} measured in session {}, {}", foretold.setting, foretold.ratio, answer.judged.ratio,
                        answer.session, offWords(answer.judged.ratio / foretold.ratio)));
    return text;
}

Json toldJson(const ToldBefore& before) {
    Json runs = Json::array(), changes = Json::array();
    for (const ForetoldRun& run : before.runs)
        runs.push_back({{"session", run.session}, {"forecast", forecastJson(run.time)}, {"memory", memoryForecastJson(run)}});
    for (const auto& [foretold, answer] : before.changes)
        changes.push_back({{"setting", foretold.setting},
                           {"ratio", number(foretold.ratio)},
                           {"measured_ratio", number(answer.judged.ratio)},
                           {"error", number(answer.judged.ratio / foretold.ratio - 1)},
                           {"verdict", answer.judged.outcome},
                           {"experiment", answer.session}});
    return {{"runs", std::move(runs)}, {"changes", std::move(changes)}};
}

std::string timeText(const Diagnosis& found) {
    if (!found.estimate) return "Time       not timed\n";
    const TimeEstimate& estimate = *found.estimate;
    std::string text = fmt::format("Time       about {} for {} steps of {}", format::duration(TimeNs::fromSeconds(estimate.seconds)),
                                   format::count(estimate.steps), format::milliseconds(estimate.msPerStep));
    if (estimate.validations > 0)
        text += fmt::format(" and {} validations of {}", format::count(estimate.validations), format::milliseconds(estimate.validationMs));
    if (estimate.checkpoints > 0 && std::isfinite(estimate.checkpointMs))
        text += fmt::format(", {} checkpoint{} of {}", format::count(estimate.checkpoints), estimate.checkpoints == 1 ? "" : "s",
                            format::milliseconds(estimate.checkpointMs));
    else if (estimate.checkpoints > 0)
        text += fmt::format(", {} checkpoint{} not counted", format::count(estimate.checkpoints), estimate.checkpoints == 1 ? "" : "s");
    text += fmt::format(" (from {} timed steps; between {} and {})\n", estimate.timed, format::duration(TimeNs::fromSeconds(estimate.low)),
                        format::duration(TimeNs::fromSeconds(estimate.high)));
    if (!estimate.disturbed.empty())
        text += fmt::format("           timed while {}, so it may be shorter on a quiet machine; it is not kept\n", estimate.disturbed);
    const StepsTiming& timing = *found.timing;
    text += fmt::format("           {}, {} of this machine's matrix-product peak\n", format::rate(timing.tokensPerSecond(), "tok/s"),
                        std::isfinite(timing.shareOfPeak(found.peaks)) ? format::percent(timing.shareOfPeak(found.peaks)) : "an unknown share");
    text += fmt::format("Peaks      {} in float32, {} in bf16, {} in fp16; memory {}/s\n", flopRate(found.peaks.float32), flopRate(found.peaks.bf16),
                        flopRate(found.peaks.fp16), format::bytes(found.peaks.bytesPerSecond));
    return text;
}

}  // namespace

Json estimateJson(const std::optional<TimeEstimate>& estimate) {
    if (!estimate) return nullptr;
    return {{"seconds", number(estimate->seconds)},
            {"low", number(estimate->low)},
            {"high", number(estimate->high)},
            {"steps", estimate->steps},
            {"ms_per_step", number(estimate->msPerStep)},
            {"validations", estimate->validations},
            {"validation_ms", number(estimate->validationMs)},
            {"checkpoints", estimate->checkpoints},
            {"checkpoint_ms", number(estimate->checkpointMs)},
            {"timed_steps", estimate->timed},
            {"disturbed", estimate->disturbed.empty() ? Json(nullptr) : Json(estimate->disturbed)}};
}

Json diagnoseJson(const Diagnosis& found, const ToldBefore& before, const std::string& testLine) {
    const Workbench::Estimate& memory = found.memory;
    const DataFacts& data = found.data;
    return {{"machine", machineJson(found.machine)},
            {"available_memory_bytes", found.availableMemory.count},
            {"disk",
             {{"place", found.disk.place},
              {"free_bytes", found.disk.freeBytes >= 0 ? Json(found.disk.freeBytes) : Json(nullptr)},
              {"checkpoint_bytes", found.disk.checkpointBytes}}},
            {"text",
             {{"name", data.name},
              {"readable", !data.description.empty()},
              {"description", data.description},
              {"encoding", data.encoding},
              {"bytes", data.bytes >= 0 ? Json(data.bytes) : Json(nullptr)},
              {"train_tokens", data.trainTokens},
              {"validation_tokens", data.validationTokens},
              {"ids", data.vocabulary},
              {"epochs", number(data.epochs)}}},
            {"parameters", memory.parameters},
            {"memory",
             {{"predicted_bytes", memory.tensors.count},
              {"available_bytes", memory.available.count},
              {"weights", memory.weights.count},
              {"gradients", memory.gradients.count},
              {"moments", memory.moments.count},
              {"activations", memory.activations.count},
              {"logits", memory.logits.count},
              {"fits", memory.tensors.count > 0 && memory.tensors <= memory.available},
              {"batch_that_fits", found.batchThatFits},
              {"timed_peak_bytes", found.timing ? number(found.timing->peakBytes) : Json(nullptr)},
              {"error", number(memoryError(found))}}},
            {"switches", switchesJson(found)},
            {"problems", found.problems},
            {"runs", !found.error},
            {"error", found.error ? toJson(*found.error) : Json(nullptr)},
            {"estimate", estimateJson(found.estimate)},
            {"foretold", toldJson(before)},
            {"bench", found.timing ? benchJson(*found.timing, found.peaks) : Json(nullptr)},
            {"peaks",
             {{"float32_flop_per_s", number(found.peaks.float32)},
              {"bf16_flop_per_s", number(found.peaks.bf16)},
              {"fp16_flop_per_s", number(found.peaks.fp16)},
              {"bytes_per_s", number(found.peaks.bytesPerSecond)},
              {"seconds_a_page", number(found.peaks.secondsAPage)}}},
            {"advice", adviceJson(found, testLine)},
            {"settings", toJson(found.config)}};
}

std::string diagnoseText(const Diagnosis& found, const ToldBefore& before, const std::string& testLine) {
    std::string text = machineText(found) + dataText(found.data) + memoryText(found) + timeText(found) + toldText(before);
    Table table({{"SWITCH"}, {"CANNOT BE USED HERE"}, {"WHY"}});
    int refused = 0;
    for (const SwitchInfo& entry : found.switches) {
        if (!entry.applicable.usable) {
            table.add({entry.id, "at all", entry.applicable.reason});
            ++refused;
            continue;
        }
        for (const auto& [choice, why] : entry.refusedChoices) {
            table.add({entry.id, choice, why});
            ++refused;
        }
    }
    text += fmt::format("Switches   {} of them; {}\n", found.switches.size(), refused == 0 ? "every value can be used" : "what cannot be used here:");
    if (refused > 0) text += table.text();
    for (const std::string& problem : found.problems) text += "! " + problem + "\n";
    text += found.advice.empty() ? "\nAdvice: none; no rule found anything above its threshold.\n"
                                 : fmt::format("\nAdvice: {} thing{} worth trying\n", found.advice.size(), found.advice.size() == 1 ? "" : "s");
    int place = 0;
    for (const Advice& advice : found.advice) {
        text += fmt::format("{:2}. {} ({})\n    {}\n    Because:", ++place, advice.title, advice.rule, advice.sentence);
        for (std::size_t i = 0; i < advice.evidence.size(); ++i)
            text += fmt::format("{} {} {}", i == 0 ? "" : ";", advice.evidence[i].name, advice.evidence[i].text);
        text += fmt::format("\n    Speaks when: {}\n    ", advice.threshold);
        // Steps alone are timed: of what happens between them there is nothing to measure.
        text += advice.inSteps ? fmt::format("Test it: {}\n", testWords(advice, testLine))
                               : fmt::format("Use it: --set {}\n", shellWord(advice.key + "=" + advice.value));
    }
    return printable(text, true);
}

}  // namespace stepscope::cli
