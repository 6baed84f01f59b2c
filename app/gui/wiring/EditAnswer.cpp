#include "app/gui/wiring/EditAnswer.h"

#include "core/base/Format.h"

namespace stepscope {
namespace {

MemoryForecast forecastOf(const Workbench::Estimate& from) {
    return {from.parameters, from.weights, from.gradients, from.moments, from.activations, from.logits, from.total, from.available, from.parts};
}

// What the other values of a switch would need, as predicted; nothing where the prediction is the same for all.
QString memoryOf(const Workbench& workbench, const RunConfig& config, const SwitchInfo& entry, Bytes now) {
    std::vector<Value> others;
    if (const auto* choices = std::get_if<Choices>(&entry.values)) {
        for (const auto& word : choices->words) others.emplace_back(word);
    } else if (const auto* whole = std::get_if<IntegerRange>(&entry.values)) {
        const auto* used = std::get_if<std::int64_t>(&config.switches.at(entry.id));  // a word may stand in place of the number
        if (used != nullptr && *used > 0 && *used <= whole->most / 2) others.emplace_back(2 * *used);
    }
    QStringList parts;
    for (const Value& other : others) {
        RunConfig asked = config;
        asked.switches[entry.id] = other;
        const auto complete = workbench.complete(std::move(asked));
        if (!complete) continue;  // cannot be used here
        const Bytes total = workbench.estimate(*complete).total;
        if (total == now) continue;
        parts << QString::fromStdString(toString(other) + " " + (total > now ? "+" : "\u2212") + format::bytes({std::abs(total.count - now.count)}));
    }
    return parts.isEmpty() ? QString() : "Predicted memory against now: " + parts.join(", ") + ".";
}

}  // namespace

std::optional<EditAnswer> answerEdit(const Workbench& workbench, const RunConfig& config, const std::function<bool()>& wanted) {
    EditAnswer answer;
    answer.catalogue = workbench.switches(config);
    const auto complete = workbench.complete(config);
    if (!complete) {
        answer.problem = QString::fromStdString(complete.error().sentence);
        return answer;
    }
    const Workbench::Estimate now = workbench.estimate(*complete);
    answer.forecast = forecastOf(now);
    for (const auto& entry : answer.catalogue) {
        if (!wanted()) return std::nullopt;
        answer.memory[entry.id] = memoryOf(workbench, *complete, entry, now.total);
    }
    return answer;
}

}  // namespace stepscope
