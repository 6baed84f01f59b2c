// What an event says in the log, as a sentence; most steps and samples say nothing. Called by LiveFeed on the GUI thread.
#pragma once
#include <optional>

#include "widgets/panels/LogModel.h"

namespace stepscope {

struct Event;

// startedUnixMs: the session's start, to which the event's time is added.
std::optional<LogEntry> logSentence(const Event& event, std::int64_t startedUnixMs);

}  // namespace stepscope
