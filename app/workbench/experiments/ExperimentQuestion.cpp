#include "app/workbench/experiments/ExperimentQuestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <set>

#include "core/analysis/JudgedSentence.h"
#include "core/data/Hash128.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"

namespace stepscope {
namespace {

// Both arms draw from one source of batches.
const std::set<std::string> kDataKeys{"data", "tokenizer", "validation-fraction", "validation", "separator", "vocabulary"};

std::string sectionOf(const std::string& key) {
    const auto& keys = configKeys();
    const auto found = std::ranges::find(keys, key, &ConfigKey::id);
    return found == keys.end() ? "" : found->section;
}

std::string listed(const std::vector<DifferingKey>& keys, std::string DifferingKey::*value) {
    std::string all;
    for (const auto& key : keys) all += fmt::format("{}{}={}", all.empty() ? "" : " ", key.key, key.*value);
    return all;
}

// However it was typed.
std::string wholePath(const std::string& path) {
    std::error_code problem;
    const auto whole = std::filesystem::weakly_canonical(path, problem);
    return problem ? path : whole.string();
}

}  // namespace

bool isOfLearning(const std::string& key) {
    return (sectionOf(key) == "schedule" && isInTimedSteps(key)) || key == "seed";
}

std::string whyNotComparable(const RunConfig& a, const RunConfig& b, bool same) {
    const auto differing = differingKeys(a, b);
    if (same) return "";
    if (differing.empty())
        return "A and B are the same configuration: what is set for one of them, the other has already; --aa measures one beside itself.";
    if (std::ranges::none_of(differing, isInTimedSteps, &DifferingKey::key))
        return fmt::format(
            "A and B differ in {} alone, which no step takes part in: what is timed are steps, without validation, checkpoints and text "
            "between them.",
            fmt::join(differing | std::views::transform(&DifferingKey::key), ", "));
    for (const auto& key : differing) {
        if (key.key == "init-partial")
            return "A and B take other parts of the weights that they begin with, and both train on one beginning; set one init-partial.";
        if (key.key == "init")
            return fmt::format("A begins with other weights than B (init={} beside {}), and both train on one beginning; set one init.", key.a,
                               key.b);
        if (kDataKeys.contains(key.key))
            return fmt::format(
                "A and B differ in {} ({} beside {}): they would not train on the same tokens, so times per token mean different things.", key.key,
                key.a, key.b);
    }
    return "";
}

std::string comparisonNotes(const RunConfig& a, const RunConfig& b, bool lossAtEqualTime) {
    std::string notes;
    const auto add = [&](const std::string& sentence) { notes += (notes.empty() ? "" : " ") + sentence; };
    std::string model, schedule;
    for (const auto& key : differingKeys(a, b)) {
        std::string& into = sectionOf(key.key) == "model" ? model : isOfLearning(key.key) || key.key == "steps" ? schedule : notes;
        if (&into != &notes) into += fmt::format("{}{}", into.empty() ? "" : ", ", key.key);
    }
    const BatchShape ofA = batchShape(a), ofB = batchShape(b);
    if (ofA.tokens() != ofB.tokens() || ofA.context != ofB.context)
        add(fmt::format(
            "A step with {} trains {} tokens in sequences of {}, one with {} {} in sequences of {}: their batches cannot be the same, so times are "
            "compared per token and blocks are equal in seconds.",
            nameOfSide(a, b, Arm::A), ofA.tokens(), ofA.context, nameOfSide(a, b, Arm::B), ofB.tokens(), ofB.context));
    if (!model.empty()) add(fmt::format("They are not the same model ({}): what is compared is speed alone.", model));
    if (!schedule.empty())
        add(fmt::format("They do not learn alike ({}): what is compared is speed, and losses differ for that reason too.", schedule));
    if (lossAtEqualTime && a.validationTokens != b.validationTokens)
        add(fmt::format(
            "validation-tokens is {} for A and {} for B, whose losses could not be compared: the losses at equal time are of {} tokens for both.",
            a.validationTokens, b.validationTokens, std::max(a.validationTokens, b.validationTokens)));
    return notes;
}

std::string questionWords(const RunConfig& a, const RunConfig& b, bool same) {
    if (same) return "A beside itself";
    const auto keys = differingKeys(a, b);
    return fmt::format("{} beside {}", listed(keys, &DifferingKey::a), listed(keys, &DifferingKey::b));
}

// These came later than the first questions, and no timed step knows of them: those keep their keys. preset names a set of settings, and steps are
// what a question has as its budget. keep-zeros came later too, and left off it changes no step.
const std::set<std::string> kNotAsked{"preset", "steps", "init", "init-partial", "early-stopping"};

std::string questionSettings(const RunConfig& config) {
    std::string text;
    for (const auto& [key, value] : listConfig(config))
        if (!kNotAsked.contains(key) && !(key == "keep-zeros" && value == "off")) text += fmt::format("|{}={}", key, value);
    return text;
}

std::string questionKey(const RunConfig& a, const RunConfig& b, bool same, const Machine& machine, const std::string& from, const std::string& init) {
    std::string text = fmt::format("{}|{}|{}", machine.cpu, machine.cores, same);
    for (const auto& gpu : machine.gpus) text += "|" + gpu.name;
    for (const RunConfig* config : {&a, &b}) text += questionSettings(*config);
    // Random weights add nothing: the keys of what was asked before are as they were.
    const std::string weights = init.empty() && from.empty() && a.init != kRandomWeights ? a.init : init;
    if (!from.empty()) text += "|from " + wholePath(from);
    if (!weights.empty()) text += "|init " + wholePath(weights);
    return hashOf(text).hex();
}

std::string turnedQuestion(const ExperimentBegan& began, const Machine& machine) {
    const auto a = configFromJson(began.configA), b = configFromJson(began.configB);
    if (!a || !b || began.same || questionKey(*a, *b, false, machine, began.from, began.init) != began.question) return "";
    const std::string turned = questionKey(*b, *a, false, machine, began.from, began.init);
    return turned == began.question ? "" : turned;
}

std::pair<RunConfig, RunConfig> sidesOf(const ExperimentBegan& began) {
    const auto parsed = [](const std::string& text) {
        auto config = configFromJson(text);
        return config ? std::move(*config) : RunConfig();
    };
    return {parsed(began.configA), parsed(began.configB)};
}

}  // namespace stepscope
