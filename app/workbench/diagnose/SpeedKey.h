// What the time of a step depends on, as a text that is equal for equal ones: the machine, the model, threads, the switches, and the data where they
// decide how many ids there are. Torch-free; any thread.
#pragma once
#include <string>

#include "core/events/Machine.h"
#include "core/events/RunConfig.h"

namespace stepscope {

std::string speedKey(const RunConfig& config, const Machine& machine);  // config: complete

}  // namespace stepscope
