// A session's name when the person gave none: the preset and what differs from it and from the defaults: "tiny-cpu · amp bf16".
#pragma once
#include <string>

#include "core/optimizations/Registry.h"

namespace stepscope {

std::string nameFor(const RunConfig& config, const Registry& registry);

}  // namespace stepscope
