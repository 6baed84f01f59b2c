// A session's name when the person gave none: what differs from the preset and from the defaults, then the preset: "amp bf16 · tiny-cpu". Names
// differ at their front, where a narrow list still shows them.
#pragma once
#include <string>

#include "core/optimizations/registry/Registry.h"

namespace stepscope {

std::string nameFor(const RunConfig& config, const Registry& registry);

}  // namespace stepscope
