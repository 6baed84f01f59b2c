// Machine as JSON, as stored with every session. Absent keys have their default, unknown ones are left out.
#pragma once
#include <string>

#include "core/events/Machine.h"

namespace stepscope {

std::string machineToJson(const Machine& machine);
Machine machineFromJson(const std::string& json);  // throws std::exception on text that is not JSON

}  // namespace stepscope
