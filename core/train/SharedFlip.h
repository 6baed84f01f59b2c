// A flip that the first of several workers was asked for, as it tells it to the others. What they hear is a stranger's. Trainer threads.
#pragma once
#include <optional>
#include <string>

#include "core/events/Command.h"

namespace stepscope {

// "amp=wbf16": the id, and the value behind a letter for its kind, so that 1 and 1.0 stay what they are.
std::string sayFlip(const Flip& flip);
std::optional<Flip> flipFrom(const std::string& said);

}  // namespace stepscope
