#include "app/workbench/diagnose/Predict.h"

#include <algorithm>

#include "app/workbench/RunRecorder.h"
#include "app/workbench/diagnose/AttentionMeter.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/diagnose/PeakMeter.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/events/ConfigKeys.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {
namespace {

// Every other word; twice and half of a number.
std::vector<Value> othersOf(const SwitchInfo& entry, const Value& now) {
    std::vector<Value> all;
    if (const auto* choices = std::get_if<Choices>(&entry.values)) {
        for (const auto& word : choices->words) all.emplace_back(word);
    } else if (const auto* range = std::get_if<IntegerRange>(&entry.values)) {
        if (const auto* used = std::get_if<std::int64_t>(&now))
            for (const std::int64_t other : {*used / 2, 2 * *used})
                if (other >= range->least && other <= range->most) all.emplace_back(other);
    }
    std::erase(all, now);
    return all;
}

// What is run, without what was written down of it.
RunPlan bareOf(RunPlan plan) {
    // Of fewer blocks than that it is the first one alone that runs again, whatever the number.
    plan.recompute.everyKthBlock = std::min(plan.recompute.everyKthBlock, plan.config.layers);
    plan.config = {};
    plan.notes.clear();
    return plan;
}

}  // namespace

Result<PredictAnswer> predict(const Machine& machine, const PredictRequest& request, const LookProgress& progress,
                              const std::atomic<bool>& cancelled) {
    const LookTurn turn;  // all of it is one look
    StepsRequest steps{.config = request.config, .warmUp = 3, .steps = request.steps, .mostSeconds = request.mostSeconds};
    auto timing = timeSteps(machine, steps, progress, cancelled);
    if (!timing) return timing.error();
    PredictAnswer answer{.timing = std::move(*timing), .peaks = {}, .values = {}, .notStored = {}};
    const RunPlan& now = answer.timing.plan;
    StepTimes times{
        .ms = answer.timing.meanMs(),
        .updateMs = answer.timing.phaseMs[static_cast<std::size_t>(Phase::Clip)] + answer.timing.phaseMs[static_cast<std::size_t>(Phase::Optimizer)]};
    if (now.execution == Execution::Eager) {
        if (progress) progress("measuring attention");
        if (const auto attention = measureAttention(now, answer.timing.memory.available, cancelled)) {
            times.manualAttentionMs = attention->manualMs;
            times.sdpaAttentionMs = attention->sdpaMs;
        }
    }
    auto peaks = measurePeaks(machine, {.device = now.device(), .threads = request.config.threads, .precisions = precisionsOf(machine, now.device())},
                              progress, cancelled);
    if (!peaks) return peaks.error();
    answer.peaks = *peaks;

    const Registry registry(machine);
    const std::string database = request.database.empty() ? defaultDatabasePath() : request.database;
    std::vector<StoredPrediction> kept;
    const RunPlan present = bareOf(now);
    std::vector<std::pair<RunPlan, std::string>> seen;  // of the values so far
    for (const SwitchInfo& entry : registry.catalogue(request.config, answer.timing.vocabulary)) {
        for (const Value& value : othersOf(entry, request.config.switches.at(entry.id))) {
            PredictedValue one{.key = entry.id, .value = toString(value)};
            RunConfig other = request.config;
            other.switches[entry.id] = value;
            const auto complete = registry.complete(std::move(other));
            const auto plan = complete ? registry.plan(*complete, answer.timing.vocabulary) : Result<RunPlan>(complete.error());
            if (!plan) {
                one.cannot = plan.error().sentence;
                answer.values.push_back(std::move(one));
                continue;
            }
            if (plan->notes != now.notes) one.note = plan->notes;
            // Values that this machine makes the same of need no prediction of their own.
            RunPlan bare = bareOf(*plan);
            if (bare == present) {
                one.sameAsNow = true;
                one.sameAs = one.key + "=" + toString(request.config.switches.at(entry.id));
                answer.values.push_back(std::move(one));
                continue;
            }
            if (const auto twin = std::ranges::find(seen, bare, &std::pair<RunPlan, std::string>::first); twin != seen.end())
                one.sameAs = twin->second;
            else
                seen.emplace_back(std::move(bare), one.key + "=" + one.value);
            one.predicted = predictTime(now, *plan, answer.timing.sizes, times, answer.peaks);
            const std::string question = questionKey(request.config, *complete, false, machine);
            if (auto earlier = earlierAnswers(database, question, 0, questionKey(*complete, request.config, false, machine));
                earlier && !earlier->empty()) {
                one.measured = std::move(earlier->front());
                if (auto foretold = predictionOf(database, question, one.measured->startedUnixMs)) one.foretold = std::move(*foretold);
            }
            if (one.predicted.known && one.sameAs.empty())
                kept.push_back({.question = question,
                                .atUnixMs = unixMillisecondsNow(),
                                .setting = one.key + "=" + one.value,
                                .ratio = one.predicted.ratio,
                                .ms = one.predicted.ms,
                                .basis = one.predicted.basis});
            answer.values.push_back(std::move(one));
        }
    }
    if (request.keep)
        if (auto stored = storePredictions(database, kept); !stored) answer.notStored = stored.error().sentence;
    return answer;
}

}  // namespace stepscope
