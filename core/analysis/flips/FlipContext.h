// FlipContext: what a measured flip belongs to beside its own switch: the model's shape and every other switch. What a switch gained in one
// context says nothing of another. Pure function, any thread.
#pragma once
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

// Two configurations have the same text exactly where a measurement of the switch `id` in one of them holds for the other, on one machine.
std::string flipContext(const RunConfig& config, const std::string& id);

}  // namespace stepscope
