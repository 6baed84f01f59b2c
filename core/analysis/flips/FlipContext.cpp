#include "core/analysis/flips/FlipContext.h"

#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {

std::string flipContext(const RunConfig& config, const std::string& id) {
    std::string text;
    const auto add = [&](const std::string& key, const Value& value) { text += key + '=' + toString(value) + '\n'; };
    // Data, schedule and seed change what is learnt, not how long a step takes; the tokenizer changes the number of ids.
    for (const auto& key : configKeys())
        if (key.section == "model" || key.id == "tokenizer" || key.id == "threads") add(key.id, key.get(config));
    for (const auto& [other, value] : config.switches)
        if (other != id) add(other, value);
    return text;
}

std::optional<TurnsOfSwitch> turnsOf(const std::string& configA, const std::string& configB) {
    const auto before = configFromJson(configA), after = configFromJson(configB);
    if (!before || !after) return std::nullopt;
    std::optional<TurnsOfSwitch> found;
    for (const auto& [id, value] : before->switches) {
        const auto other = after->switches.find(id);
        if (other == after->switches.end()) return std::nullopt;
        if (other->second == value) continue;
        if (found) return std::nullopt;
        found = TurnsOfSwitch{id, value, other->second, flipContext(*before, id)};
    }
    if (found && found->context != flipContext(*after, found->id)) return std::nullopt;
    return found;
}

}  // namespace stepscope
