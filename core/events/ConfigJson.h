// RunConfig <-> JSON text, as sessions and checkpoints store it. A key that this version does not know, or a value of the wrong
// kind, is an error naming it: a newer program wrote it.
#pragma once
#include <string>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

std::string configToJson(const RunConfig& config);
Result<RunConfig> configFromJson(const std::string& json);

}  // namespace stepscope
