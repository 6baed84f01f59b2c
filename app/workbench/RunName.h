// A session's name when the person gave none: what differs from the preset and from the defaults, then the preset: "amp bf16 · tiny-cpu". Names
// differ at their front, where a narrow list still shows them.
#pragma once
#include <string>

#include "core/optimizations/registry/Registry.h"

namespace stepscope {

std::string nameFor(const RunConfig& config, const Registry& registry);
// The same name, where a run in that database has it and was of another length, seed or number of threads, with that in front: "seed 3 · tiny-cpu".
// Held against the newest one; where the database cannot be read the name stays. Reads a file: not on the window's thread.
std::string toldApart(const std::string& name, const RunConfig& config, const std::string& database);

}  // namespace stepscope
