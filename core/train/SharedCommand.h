// What the first of several workers was asked for and all of them do at the same boundary, as it tells it to the others. What they hear is a
// stranger's. Trainer threads.
#pragma once
#include <optional>
#include <string>
#include <variant>

#include "core/events/Command.h"

namespace stepscope {

// std::monostate: nothing after all.
using SharedCommand = std::variant<std::monostate, Flip, Reseed, SaveCheckpoint, ValidateNow, Capture, StopCapture>;

// "amp=wbf16" is a flip: the id, and the value behind a letter for its kind, so that 1 and 1.0 stay what they are. Others begin with "!". Where a
// checkpoint is to lie is not said: the first worker alone writes it; nor whether slow steps are to be kept: which those are differs from one to
// another.
std::string sayCommand(const SharedCommand& asked);
std::optional<SharedCommand> commandFrom(const std::string& said);

}  // namespace stepscope
