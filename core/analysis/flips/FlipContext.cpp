#include "core/analysis/flips/FlipContext.h"

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

}  // namespace stepscope
