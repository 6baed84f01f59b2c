// When an event happened, whatever its kind. Used by the recorder and the replayer.
#pragma once
#include "core/events/Event.h"

namespace stepscope {

TimeNs timeOf(const Event& event);  // SessionStarted: 0

}  // namespace stepscope
