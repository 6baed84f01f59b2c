// A session's name when the person gave none: the preset and what differs from it and from the defaults: "tiny-cpu · amp bf16".
#pragma once
#include "core/optimizations/Registry.h"

#include <string>

namespace stepscope {

std::string nameFor(const RunConfig& config, const Registry& registry);

}  // namespace stepscope
