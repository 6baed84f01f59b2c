#include "app/cli/TrainReport.h"

#include <fmt/format.h>

#include <cmath>

#include "app/cli/output/Json.h"
#include "app/cli/sessions/CaptureReport.h"
#include "core/analysis/JudgedSentence.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kCapturedRows = 20;  // sessions captures has them all

}  // namespace

std::string summaryText(const RunSummary& summary, const std::optional<StoredForecast>& forecast) {
    std::string text = summary.session != 0 ? fmt::format("session {} {}", summary.session, toString(summary.state)) : toString(summary.state);
    text += fmt::format(": {} step{}", format::count(summary.steps), summary.steps == 1 ? "" : "s");
    if (std::isfinite(summary.lossLast)) text += fmt::format(" · loss {:.4f} → {:.4f}", summary.lossFirst, summary.lossLast);
    if (std::isfinite(summary.validationLoss)) text += fmt::format(" · validation {:.4f}", summary.validationLoss);
    if (std::isfinite(summary.msPerStepMedian)) text += fmt::format(" · {} a step", format::milliseconds(summary.msPerStepMedian));
    if (std::isfinite(summary.tokensPerSecond)) text += fmt::format(" · {}", format::rate(summary.tokensPerSecond, "tok/s"));
    if (summary.skipped > 0) text += fmt::format(" · {} step{} left out by fp16", format::count(summary.skipped), summary.skipped == 1 ? "" : "s");
    text += fmt::format(" · peak {} ({} predicted), of it tensors {}\n", format::bytes({summary.peakMemoryBytes}),
                        format::bytes({summary.predictedMemoryBytes}), format::bytes({summary.peakAllocatedBytes}));
    if (summary.state == RunState::Finished && !summary.why.empty()) text += summary.why + "\n";
    if (forecast && std::isfinite(forecast->measuredSeconds)) text += forecastOutcome(*forecast) + "\n";
    for (const auto& judged : summary.judged) text += judgedSentence(judged) + "\n";
    for (const auto& capture : summary.captures) text += "\n" + captureTable(capture, kCapturedRows);
    return text;
}

Json forecastJson(const std::optional<StoredForecast>& forecast) {
    if (!forecast) return nullptr;
    return {{"seconds", number(forecast->seconds)},
            {"low", number(forecast->low)},
            {"high", number(forecast->high)},
            {"source", forecast->source},
            {"measured_seconds", number(forecast->measuredSeconds)},
            {"error", number(forecast->measuredSeconds / forecast->seconds - 1)}};
}

std::string summaryLine(const RunSummary& summary, const std::optional<StoredForecast>& forecast) {
    Json all = {{"session", summary.session},
                {"steps", summary.steps},
                {"loss_first", nineDigits(summary.lossFirst)},
                {"loss_last", nineDigits(summary.lossLast)},
                {"val_loss", nineDigits(summary.validationLoss)},
                {"ms_per_step_median", number(summary.msPerStepMedian)},
                {"tokens_per_s", number(summary.tokensPerSecond)},
                {"skipped", summary.skipped},
                {"peak_memory_bytes", summary.peakMemoryBytes},
                {"peak_allocated_bytes", summary.peakAllocatedBytes}};
    if (summary.state == RunState::Finished && !summary.why.empty()) all["why"] = summary.why;
    all["forecast"] = forecastJson(forecast);
    for (const auto& judged : summary.judged)
        all["measured"].push_back({{"verdict", judged.outcome},
                                   {"why", judged.why},
                                   {"ratio", number(judged.ratio)},
                                   {"low", number(judged.low)},
                                   {"high", number(judged.high)},
                                   {"pairs", judged.pairs},
                                   {"seconds", number(judged.seconds)}});
    for (const auto& capture : summary.captures) all["captures"].push_back(toJson(capture));
    return line(all);
}

}  // namespace stepscope::cli
