#include "app/cli/diagnose/BenchReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "core/base/Format.h"

namespace stepscope::cli {

const char* wordOf(Precision precision) {
    return precision == Precision::Float32 ? "float32" : precision == Precision::Bf16 ? "bf16" : "fp16";
}

// One worker is timed: it waits for no other.
constexpr auto kTimedPhases = static_cast<std::size_t>(Phase::Waiting);

double otherMs(const StepsTiming& timing) {
    return std::max(0.0, timing.meanMs() - std::accumulate(timing.phaseMs.begin(), timing.phaseMs.end(), 0.0));
}

std::string flopRate(double flopsPerSecond) {
    return std::isfinite(flopsPerSecond) ? format::significant(flopsPerSecond / 1e9) + " GFLOP/s" : "unknown";
}

Json benchJson(const StepsTiming& timing, const MachinePeaks& peaks) {
    Json phases = Json::object();
    for (std::size_t phase = 0; phase < kTimedPhases; ++phase) phases[toString(static_cast<Phase>(phase))] = number(timing.phaseMs[phase]);
    phases["other"] = number(otherMs(timing));
    const double seconds = timing.meanMs() / 1e3;
    return {{"steps", timing.stepMs.size()},
            {"ms_per_step",
             {{"mean", number(timing.meanMs())},
              {"median", number(timing.medianMs())},
              {"p10", number(timing.quantileMs(0.1))},
              {"p90", number(timing.quantileMs(0.9))},
              {"slowest", number(timing.quantileMs(1))}}},
            {"phases_ms", std::move(phases)},
            {"tokens_per_step", timing.tokens},
            {"samples_per_step", timing.sequences},
            {"tokens_per_s", number(timing.tokensPerSecond())},
            {"samples_per_s", number(timing.sequencesPerSecond())},
            {"peak_bytes", number(timing.peakBytes)},
            {"predicted_bytes", timing.memory.tensors.count},
            {"page_faults_per_step", number(timing.faultsPerStep)},
            {"operations_per_step", number(timing.operations)},
            {"precision", wordOf(timing.plan.precision)},
            {"product_flop_per_step", number(timing.work.products)},
            {"attention_flop_per_step", number(timing.work.attention)},
            {"product_flop_per_s", number(timing.work.products / seconds)},
            {"product_peak_flop_per_s", number(peaks.of(timing.plan.precision))},
            {"share_of_product_peak", number(timing.shareOfPeak(peaks))},
            {"others_pct", number(timing.othersPct)},
            {"steal_pct", number(timing.stealPct)},
            {"attention_that_ran", timing.attention},
            {"loss", nineDigits(timing.loss)},
            {"parameters", timing.parameters},
            {"data", timing.data},
            {"ran_on", timing.plan.device()},
            {"settings", toJson(timing.plan.config)}};
}

std::string benchText(const StepsTiming& timing, const MachinePeaks& peaks) {
    using enum Table::Align;
    const double mean = timing.meanMs();
    Table table({{"PHASE"}, {"MEAN", Right}, {"SHARE", Right}});
    const auto add = [&](const std::string& name, double ms) { table.add({name, format::milliseconds(ms), format::percent(ms / mean)}); };
    for (std::size_t phase = 0; phase < kTimedPhases; ++phase) add(toString(static_cast<Phase>(phase)), timing.phaseMs[phase]);
    add("other", otherMs(timing));
    add("step", mean);
    std::string text = printable(timing.data) + "\n" + table.text() + "\n";
    text += fmt::format("{} steps: mean {}, median {}, p10 {}, p90 {}, slowest {}\n", timing.stepMs.size(), format::milliseconds(mean),
                        format::milliseconds(timing.medianMs()), format::milliseconds(timing.quantileMs(0.1)),
                        format::milliseconds(timing.quantileMs(0.9)), format::milliseconds(timing.quantileMs(1)));
    text += fmt::format("{}, {}; {} tokens in {} sequences a step\n", format::rate(timing.tokensPerSecond(), "tok/s"),
                        format::rate(timing.sequencesPerSecond(), "samples/s"), format::count(timing.tokens), format::count(timing.sequences));
    text += fmt::format("peak memory of tensors {}, predicted {}; {} page faults and {} operations a step\n", format::bytes(timing.peakBytes),
                        format::bytes(timing.memory.tensors), format::amount(timing.faultsPerStep), format::amount(timing.operations));
    const double rate = timing.work.products / (mean / 1e3), peak = peaks.of(timing.plan.precision);
    text += fmt::format("matrix products: {} of the {} that this machine reaches in {} ({})\n", flopRate(rate), flopRate(peak),
                        wordOf(timing.plan.precision),
                        std::isfinite(peak) ? format::percent(timing.shareOfPeak(peaks)) : "not measured: it has no units for it");
    text += fmt::format("attention that ran: {}; loss {:.4f}\n", timing.attention, timing.loss);
    if (std::isfinite(timing.othersPct))
        text += fmt::format("meanwhile other programs had {:.0f} % of the processors, and {:.0f} % went to other machines of this host\n",
                            timing.othersPct, timing.stealPct);
    return text;
}

}  // namespace stepscope::cli
