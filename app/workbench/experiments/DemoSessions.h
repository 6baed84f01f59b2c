// What the two short sessions are that a person may have recorded to look at: the same small model with the switch that promises most off, and on.
// They are ordinary runs on this machine; nothing in them is made up. Any thread.
#pragma once
#include <string>
#include <vector>

#include "app/workbench/Workbench.h"

namespace stepscope {

constexpr double kDemoSeconds = 5;  // of steps, of each of the two

// In the order in which they are recorded. Each holds a capture of three steps, and ends when whoever starts it stops it.
Result<std::vector<RunRequest>> demoRequests(const Workbench& workbench, const std::string& database);

}  // namespace stepscope
