// Switches as a database, a checkpoint or a file has them: checked as --set checks what a person types, whoever wrote them. Any thread.
#pragma once
#include "core/base/Result.h"
#include "core/events/RunConfig.h"

namespace stepscope {

// The configuration with every value in its own kind. Damaged: a switch that this version does not know, or a value of the wrong kind or range; the
// sentence begins with `place` ("Session 3 of sessions.db") and names both.
Result<RunConfig> checkStoredSwitches(RunConfig config, const std::string& place);

}  // namespace stepscope
