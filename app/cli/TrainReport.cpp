#include "app/cli/TrainReport.h"

#include <fmt/format.h>

#include <cmath>

#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/sessions/CaptureReport.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/StudyHistory.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kCapturedRows = 20;  // sessions captures has them all

// In a run it is one switch that takes turns; where it took others along, the sides have no other names than their letters.
TurnsOfSwitch switchOf(const ExperimentAnswer& answer) {
    return turnsOf(answer.began.configA, answer.began.configB).value_or(TurnsOfSwitch{"settings", std::string("A"), std::string("B"), {}});
}

const std::vector<EarlierAnswer>& earlierOf(const EarlierOfEach& earlier, std::size_t answer) {
    static const std::vector<EarlierAnswer> kNone;
    return answer < earlier.size() ? earlier[answer] : kNone;
}

std::string answerText(const ExperimentAnswer& answer, const std::vector<EarlierAnswer>& earlier) {
    const auto turns = turnsOf(answer.began.configA, answer.began.configB);
    std::string text =
        turns ? turnsSentence(
                    answer.judged, answer.began.delta,
                    {.id = turns->id, .from = toString(turns->from), .to = toString(turns->to), .changed = answer.changed, .same = answer.same})
              : judgedSentence(answer.judged, answer.began.delta, sidesInWords(answer.began)) +
                    fmt::format(" A side beside itself here: {}.{}", floorWords(answer.judged.floor, answer.same),
                                floorAdvice(answer.judged.floor, answer.judged.ratio, answer.judged.outcome));
    if (const std::string machine = machineSentence(answer.machine); !machine.empty()) text += " " + machine;
    text += fmt::format(" Method: {}; {} rebuild{} of both, coins of seed {}.", intervalMethod(answer.began.finalLook), answer.judged.rebuilds,
                        answer.judged.rebuilds == 1 ? "" : "s", answer.began.seed);
    if (!earlier.empty())
        text += fmt::format(" Asked {} time{} before here, last in session {}: {}.", earlier.size(), earlier.size() == 1 ? "" : "s",
                            earlier.front().session, earlierWords(earlier.front()));
    return printable(text) + "\n";
}

Json answerJson(const ExperimentAnswer& answer, const std::vector<EarlierAnswer>& earlier) {
    const ExperimentJudged& judged = answer.judged;
    const TurnsOfSwitch turns = switchOf(answer);
    Json before = Json::array();
    for (const EarlierAnswer& one : earlier)
        before.push_back({{"experiment", one.session},
                          {"verdict", one.judged.outcome},
                          {"ratio", number(one.judged.ratio)},
                          {"delta", number(one.delta)},
                          {"turned", one.turned}});
    return {{"switch", turns.id},
            {"from", toJson(turns.from)},
            {"to", toJson(turns.to)},
            {"kept", toJson(answer.changed ? turns.to : turns.from)},
            {"verdict", judged.outcome},
            {"why", judged.why},
            {"ratio", number(judged.ratio)},
            {"low", bound(judged.low, judged.high, judged.low)},
            {"high", bound(judged.low, judged.high, judged.high)},
            {"pairs", judged.pairs},
            {"discarded", judged.left},
            {"rebuilds", judged.rebuilds},
            {"floor", std::isfinite(judged.floor) ? number(judged.floor - 1) : Json(nullptr)},
            {"floor_ratio", number(judged.floor)},
            {"delta", number(answer.began.delta)},
            {"seconds", number(judged.seconds)},
            {"seed", answer.began.seed},
            {"method", intervalMethod(answer.began.finalLook)},
            {"machine_meanwhile", json::machineMeanwhileOf(answer.machine)},
            {"earlier", before}};
}

}  // namespace

EarlierOfEach earlierOfEach(const RunSummary& summary, const std::string& database, const Machine& machine) {
    EarlierOfEach all;
    for (const ExperimentAnswer& answer : summary.answers) {
        all.emplace_back();
        if (summary.session == 0 || answer.began.question.empty()) continue;
        if (auto found = earlierAnswers(database, answer.began.question, summary.session, turnedQuestion(answer.began, machine)))
            all.back() = std::move(*found);
    }
    return all;
}

std::string summaryText(const RunSummary& summary, const std::optional<StoredForecast>& forecast, const EarlierOfEach& earlier) {
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
    for (std::size_t i = 0; i < summary.answers.size(); ++i) text += answerText(summary.answers[i], earlierOf(earlier, i));
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

Json memoryForecastJson(const ForetoldRun& run) {
    if (run.predictedBytes <= 0) return nullptr;
    return {{"predicted_bytes", run.predictedBytes}, {"peak_bytes", number(run.peakBytes)}, {"error", number(run.memoryError())}};
}

std::string summaryLine(const RunSummary& summary, const std::optional<StoredForecast>& forecast, const EarlierOfEach& earlier) {
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
    for (std::size_t i = 0; i < summary.answers.size(); ++i) all["measured"].push_back(answerJson(summary.answers[i], earlierOf(earlier, i)));
    for (const SwitchRefused& one : summary.refused)
        all["refused"].push_back({{"switch", one.id}, {"value", toJson(one.value)}, {"why", refusalWords(one.why, one.subject)}});
    for (const auto& capture : summary.captures) all["captures"].push_back(toJson(capture));
    return line(all);
}

}  // namespace stepscope::cli
