// When an event happened, whatever its kind. Used by the recorder and the replayer.
#pragma once
#include "core/base/Units.h"

namespace stepscope {

struct Event;

TimeNs timeOf(const Event& event);  // SessionStarted: 0

}  // namespace stepscope
