#include "app/workbench/Starts.h"

#include <fmt/format.h>

#include <random>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/LiveExperiment.h"
#include "app/workbench/experiments/LiveLadder.h"
#include "app/workbench/experiments/LiveTune.h"
#include "core/analysis/JudgedSentence.h"
#include "core/data/Corpus.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

// Short enough to be typed. What is learnt does not depend on it.
std::int64_t seedOfCoins(std::int64_t asked) {
    constexpr std::int64_t kMostDrawn = 999'999;
    if (asked != kAnySeed) return asked;
    std::random_device chance;
    return std::uniform_int_distribution<std::int64_t>(kAnySeed + 1, kMostDrawn)(chance);
}

// Plans that run the same: what was written down differs, what was made of it does not.
bool sameRunning(RunPlan a, const RunPlan& b) {
    a.config = b.config;
    a.notes = b.notes;
    return a == b;
}

LadderEngine ladderEngine(std::shared_ptr<const Registry> registry, const LadderRequest& request) {
    const auto catalogue = std::make_shared<const SwitchCatalogue>(registry->catalogue(request.config, knownVocabulary(request.config)));
    LadderEngine engine;
    engine.machine = registry->machine();
    engine.config = [registry, catalogue, ladder = request.ladder, base = request.config](const RungSet& rungs) -> Result<RunConfig> {
        auto config = onLadder(ladder, rungs, base, *catalogue);
        if (!config) return config;
        return registry->complete(std::move(*config));
    };
    engine.whyNot = [registry, config = engine.config](const RungSet& a, const RungSet& b) -> std::string {
        const auto configA = config(a), configB = config(b);
        if (!configA) return configA.error().sentence;
        if (!configB) return configB.error().sentence;
        const auto planA = registry->plan(*configA, knownVocabulary(*configA)), planB = registry->plan(*configB, knownVocabulary(*configB));
        if (!planA) return planA.error().sentence;
        if (!planB) return planB.error().sentence;
        // Threads are no part of a plan, and a step takes as long as they make it.
        const auto threads = [&](const RunConfig& config) { return config.threads > 0 ? config.threads : std::int64_t{registry->machine().cores}; };
        if (sameRunning(*planA, *planB) && threads(*configA) == threads(*configB)) {
            const auto differing = differingKeys(*configA, *configB);
            if (differing.empty()) return "It changes nothing: these are the settings below it.";
            // Other data run the same and train on other tokens.
            if (std::string why = whyNotComparable(*configA, *configB, false); !why.empty()) return why;
            return planB->notes.empty() ? "It does nothing here: the same runs as without it." : "It does nothing here. " + planB->notes;
        }
        // One that says of itself that it has no effect beside the others. Each side must run as with the default: beside another value that does
        // something, a value that does nothing makes a difference.
        const auto catalogueA = registry->catalogue(*configA, planA->vocabulary), catalogueB = registry->catalogue(*configB, planB->vocabulary);
        std::string idle;
        for (const auto& key : differingKeys(*configA, *configB)) {
            std::string note;
            for (const auto& [config, all] : {std::pair(&*configA, &catalogueA), std::pair(&*configB, &catalogueB)}) {
                const auto found = std::ranges::find(*all, key.key, &SwitchInfo::id);
                if (found == all->end() || (!found->idle && config->switches.at(key.key) != found->byDefault))
                    return whyNotComparable(*configA, *configB, false);
                if (found->idle) note = found->note;
            }
            idle += (idle.empty() ? "" : " ") + note;
        }
        return idle;
    };
    engine.start = [registry](ExperimentRequest experiment, EventSink& sink) { return startExperimentOn(registry, std::move(experiment), sink); };
    return engine;
}

Status checkRequest(LadderRequest& request, const Registry& registry) {
    if (request.budgetSeconds != 0 && !(request.budgetSeconds >= kShortestBudget && request.budgetSeconds <= kLongestBudget))
        return makeError(ErrorCode::BadInput, fmt::format("The budget is {:g} seconds; it takes a number from {:g} to {:g}.", request.budgetSeconds,
                                                          kShortestBudget, kLongestBudget));
    if (!(request.delta >= kLeastDelta && request.delta <= kMostDelta))
        return makeError(ErrorCode::BadInput, fmt::format("What counts as equal is {:g} %; it takes a number from {:g} to {:g}.", request.delta * 100,
                                                          kLeastDelta * 100, kMostDelta * 100));
    if (!request.name.empty())
        if (auto good = checkSessionName(request.name); !good) return good;
    auto complete = registry.complete(request.config);
    if (!complete) return complete.error();
    request.config = std::move(*complete);
    return checkLadder(request.ladder, request.config, registry.catalogue(request.config, knownVocabulary(request.config)));
}

}  // namespace

// Rows of the embedding when the data have not been read yet: what the tokenizer has, for characters the most that is usual, for ready tokens
// GPT-2's.
std::int64_t likelyVocabulary(const RunConfig& config) {
    if (config.vocabulary > 0) return config.vocabulary;
    if (isReadyTokens(config.data)) return 50257;
    return config.tokenizer == "gpt2" ? 50257 : config.tokenizer == "byte" ? 256 : 128;
}

// 0 for ready tokens and characters: how many ids there are is known when the data have been read.
std::int64_t knownVocabulary(const RunConfig& config) {
    const bool known = config.vocabulary > 0 || (config.tokenizer != "char" && !isReadyTokens(config.data));
    return known ? likelyVocabulary(config) : 0;
}

std::string whyNothingDiffersOn(const Registry& registry, const RunConfig& a, const RunConfig& b) {
    const SwitchCatalogue catalogue = registry.catalogue(b, knownVocabulary(b));
    const auto differing = differingKeys(a, b);
    // What is no switch need not be part of a plan.
    const auto isSwitch = [&](const DifferingKey& key) { return std::ranges::find(catalogue, key.key, &SwitchInfo::id) != catalogue.end(); };
    if (differing.empty() || !std::ranges::all_of(differing, isSwitch)) return "";
    const auto planA = registry.plan(a, knownVocabulary(a)), planB = registry.plan(b, knownVocabulary(b));
    if (!planA || !planB || !sameRunning(*planA, *planB)) return "";
    const std::string& why = planB->notes.empty() ? planA->notes : planB->notes;
    std::string keys;
    for (const auto& key : differing) keys += (keys.empty() ? "" : ", ") + key.key;
    return fmt::format("A and B run alike here, whatever {} says{}{} --aa measures one beside itself.", keys, why.empty() ? "." : ": ", why);
}

Result<std::unique_ptr<Run>> startExperimentOn(const std::shared_ptr<const Registry>& registry, ExperimentRequest request, EventSink& sink) {
    if (!(request.budgetSeconds >= kShortestBudget && request.budgetSeconds <= kLongestBudget))
        return makeError(ErrorCode::BadInput, fmt::format("The budget is {:g} seconds; it takes a number from {:g} to {:g}.", request.budgetSeconds,
                                                          kShortestBudget, kLongestBudget));
    if (!(request.delta >= kLeastDelta && request.delta <= kMostDelta))
        return makeError(ErrorCode::BadInput, fmt::format("What counts as equal is {:g} %; it takes a number from {:g} to {:g}.", request.delta * 100,
                                                          kLeastDelta * 100, kMostDelta * 100));
    if (!request.name.empty())
        if (auto good = checkSessionName(request.name); !good) return good.error();
    std::array<RunPlan, 2> plans;
    for (const bool second : {false, true}) {
        RunConfig& config = second ? request.b : request.a;
        const auto named = [&](const Error& error) {
            return makeError(error.code, fmt::format("{}: {}", nameOfSide(request.a, request.b, second ? Arm::B : Arm::A), error.sentence));
        };
        auto complete = registry->complete(config);
        if (!complete) return named(complete.error());
        config = std::move(*complete);
        auto plan = registry->plan(config, knownVocabulary(config));
        if (!plan) return named(plan.error());
        plans[second ? 1 : 0] = std::move(*plan);
    }
    if (const std::string why = whyNotComparable(request.a, request.b, request.same); !why.empty()) return makeError(ErrorCode::BadInput, why);
    if (!request.same)
        if (const std::string why = whyNothingDiffersOn(*registry, request.a, request.b); !why.empty()) return makeError(ErrorCode::BadInput, why);
    request.seed = seedOfCoins(request.seed);
    if (request.from.empty() && request.init.empty() && request.a.init != kRandomWeights) request.init = request.a.init;
    return std::unique_ptr<Run>(std::make_unique<LiveExperiment>(std::move(request), std::move(plans), registry, sink));
}

Result<std::unique_ptr<Run>> startLadderOn(const std::shared_ptr<const Registry>& registry, LadderRequest request, EventSink& sink) {
    if (auto good = checkRequest(request, *registry); !good) return good.error();
    LadderEngine engine = ladderEngine(registry, request);
    // What all stand on must run; a rung that does not is said in its row.
    if (auto bottom = engine.config({}); !bottom)
        return makeError(bottom.error().code, fmt::format("The bottom of {} cannot run here: {}", request.ladder.title, bottom.error().sentence));
    request.seed = seedOfCoins(request.seed);
    LadderCourse course = courseOf(request, engine);
    auto run = std::make_unique<LiveLadder>(std::move(request), std::move(engine), std::move(course), sink);
    run->begin();
    return std::unique_ptr<Run>(std::move(run));
}

Result<std::unique_ptr<Run>> startTuneOn(const std::shared_ptr<const Registry>& registry, TuneRequest request, EventSink& sink) {
    if (!(request.budgetSeconds >= kShortestTune && request.budgetSeconds <= kLongestBudget))
        return makeError(ErrorCode::BadInput, fmt::format("The budget is {:g} seconds; a search takes a number from {:g} to {:g}.",
                                                          request.budgetSeconds, kShortestTune, kLongestBudget));
    if (!(request.delta >= kLeastDelta && request.delta <= kMostDelta))
        return makeError(ErrorCode::BadInput, fmt::format("What counts as equal is {:g} %; it takes a number from {:g} to {:g}.", request.delta * 100,
                                                          kLeastDelta * 100, kMostDelta * 100));
    if (!request.name.empty())
        if (auto good = checkSessionName(request.name); !good) return good.error();
    auto complete = registry->complete(request.config);
    if (!complete) return complete.error();
    request.config = std::move(*complete);
    const auto plan = registry->plan(request.config, knownVocabulary(request.config));
    if (!plan) return plan.error();
    request.seed = seedOfCoins(request.seed);
    auto run = std::make_unique<LiveTune>(
        std::move(request), registry,
        [registry](ExperimentRequest experiment, EventSink& events) { return startExperimentOn(registry, std::move(experiment), events); }, sink);
    run->begin();
    return std::unique_ptr<Run>(std::move(run));
}

Result<LadderForecast> forecastOn(const std::shared_ptr<const Registry>& registry, LadderRequest request) {
    if (auto good = checkRequest(request, *registry); !good) return good.error();
    const LadderEngine engine = ladderEngine(registry, request);
    const LadderCourse course = courseOf(request, engine);
    return forecastOf(course, engine, request.database.empty() ? defaultDatabasePath() : request.database);
}

}  // namespace stepscope
