#include "core/optimizations/registry/StoredSwitches.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Result<RunConfig> checkStoredSwitches(RunConfig config, const std::string& place) {
    static const std::vector<Switch> all = allSwitches();
    for (auto& [id, value] : config.switches) {
        const auto entry = std::ranges::find(all, id, &Switch::id);
        if (entry == all.end())
            return makeError(
                ErrorCode::Damaged,
                fmt::format("{} names the switch \"{}\", which this version does not have; a newer Stepscope may have written it.", place, id));
        auto parsed = parseValue(entry->values, id, toString(value));
        if (!parsed) return makeError(ErrorCode::Damaged, fmt::format("{} cannot be used: {}", place, parsed.error().sentence));
        value = std::move(*parsed);
    }
    if (auto good = checkConfig(config); !good)
        return makeError(ErrorCode::Damaged, fmt::format("{} cannot be used: {}", place, good.error().sentence));
    return config;
}

}  // namespace stepscope
