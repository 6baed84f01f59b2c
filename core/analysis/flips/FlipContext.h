// FlipContext: what a measured flip belongs to beside its own switch: the model's shape and every other switch. What a switch gained in one
// context says nothing of another. Pure function, any thread.
#pragma once
#include <optional>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

// Two configurations have the same text exactly where a measurement of the switch `id` in one of them holds for the other, on one machine.
std::string flipContext(const RunConfig& config, const std::string& id);

// What took turns: one switch, the value that the run had and the other one.
struct TurnsOfSwitch {
    std::string id;
    Value from, to;
    std::string context;
};
// Of the configurations of an experiment's two sides, as JSON (ConfigJson.h). Nothing where more than one switch differs, or something else does, or
// where they cannot be read: then it is no answer about a switch.
std::optional<TurnsOfSwitch> turnsOf(const std::string& configA, const std::string& configB);

}  // namespace stepscope
