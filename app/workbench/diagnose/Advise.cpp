#include "app/workbench/diagnose/Advise.h"

#include <algorithm>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"

namespace stepscope {
namespace {

std::vector<Value> candidates(const SwitchInfo& entry, const Value& now, std::int64_t number) {
    std::vector<Value> all;
    if (const auto* choices = std::get_if<Choices>(&entry.values)) {
        for (const auto& word : choices->words) all.emplace_back(word);
    } else if (std::holds_alternative<IntegerRange>(entry.values)) {
        const auto* used = std::get_if<std::int64_t>(&now);
        all.push_back(entry.byDefault);
        if (number != 0) all.emplace_back(number);
        if (used != nullptr)
            for (const std::int64_t other : {2 * *used, *used / 2, *used + 1}) all.emplace_back(other);
    } else {
        const auto* used = std::get_if<double>(&now);
        all.push_back(entry.byDefault);
        if (used != nullptr)
            for (const double other : {2 * *used, *used / 2, 1.0}) all.emplace_back(other);
    }
    std::erase(all, now);
    return all;
}

std::string textOf(const RunConfig& config, const std::string& key) {
    for (const auto& [name, value] : listConfig(config))
        if (name == key) return value;
    return {};
}

// The change that `remedy` comes to here; nothing where it cannot be made, or would change nothing.
std::optional<KeyValue> changeFor(const Registry& registry, const AdviceFacts& facts, const Remedy& remedy) {
    const RunConfig& config = facts.plan.config;
    if (const auto* wanted = std::get_if<WantedPlan>(&remedy)) {
        // What holds already is no change.
        if ((*wanted)(facts.plan)) return std::nullopt;
        return settingFor(registry, config, facts.plan.vocabulary, *wanted);
    }
    const KeyValue& setting = std::get<KeyValue>(remedy);
    RunConfig changed = config;
    if (!setKey(changed, registry.catalogue(config, facts.plan.vocabulary), setting.first, setting.second) || changed == config) return std::nullopt;
    if (!registry.complete(changed)) return std::nullopt;
    return KeyValue{setting.first, textOf(changed, setting.first)};
}

}  // namespace

std::optional<KeyValue> settingFor(const Registry& registry, const RunConfig& config, std::int64_t vocabulary, const WantedPlan& wanted,
                                   std::int64_t number) {
    for (const SwitchInfo& entry : registry.catalogue(config, vocabulary)) {
        const auto now = config.switches.find(entry.id);
        if (now == config.switches.end()) continue;
        for (const Value& value : candidates(entry, now->second, number)) {
            RunConfig changed = config;
            changed.switches[entry.id] = value;
            const auto complete = registry.complete(std::move(changed));
            if (!complete) continue;
            const auto plan = registry.plan(*complete, vocabulary);
            if (plan && wanted(*plan)) return KeyValue{entry.id, toString(complete->switches.at(entry.id))};
        }
    }
    return std::nullopt;
}

std::vector<Advice> advise(const Registry& registry, const AdviceFacts& facts) {
    std::vector<Advice> all;
    for (Finding& found : findings(facts)) {
        Advice advice{.rule = found.rule,
                      .title = found.title,
                      .sentence = found.sentence,
                      .threshold = found.threshold,
                      .evidence = std::move(found.evidence),
                      .key = {},
                      .from = {},
                      .value = {},
                      .besideItself = false};
        for (const Remedy& remedy : found.remedies) {
            if (std::holds_alternative<BesideItself>(remedy)) {
                advice.besideItself = true;
                break;
            }
            if (const auto change = changeFor(registry, facts, remedy)) {
                advice.key = change->first;
                advice.from = textOf(facts.plan.config, change->first);
                advice.value = change->second;
                advice.inSteps = isInTimedSteps(advice.key);
                advice.learns = isOfLearning(advice.key);
                break;
            }
        }
        if (advice.besideItself || !advice.key.empty()) all.push_back(std::move(advice));
    }
    return all;
}

}  // namespace stepscope
