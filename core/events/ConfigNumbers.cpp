#include "core/events/ConfigNumbers.h"

#include <set>
#include <string>

namespace stepscope {
namespace {

// Null where there is none, or none of this kind.
template <class Number>
const Number* find(const RunConfig& config, const char* id) {
    const auto found = config.switches.find(id);
    return found == config.switches.end() ? nullptr : std::get_if<Number>(&found->second);
}

}  // namespace

BatchShape batchShape(const RunConfig& config) {
    const auto number = [&](const char* id, std::int64_t absent) {
        const auto* value = find<std::int64_t>(config, id);
        return value == nullptr ? absent : *value;
    };
    return {number("batch-size", 0), number("context", 0), number("grad-accumulation", 1)};
}

void boundContext(RunConfig& config, std::int64_t positions) {
    if (batchShape(config).context > positions) config.switches["context"] = positions;
}

double clipNorm(const RunConfig& config) {
    if (const auto* real = find<double>(config, "grad-clip")) return *real;
    const auto* whole = find<std::int64_t>(config, "grad-clip");
    return whole == nullptr ? 0 : static_cast<double>(*whole);
}

bool isInTimedSteps(const std::string& key) {
    // What a run does between its steps, and how long it goes on.
    static const std::set<std::string> between{"steps", "validation-every", "validation-tokens", "checkpoint-every", "checkpoint-at-end",
                                               "keep",  "keep-best",        "early-stopping",    "sample-every"};
    return !between.contains(key);
}

}  // namespace stepscope
