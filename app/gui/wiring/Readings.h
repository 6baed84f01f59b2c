// From what is known about a run to what the top bar and the replay's scrubber show. Pure functions, GUI thread.
#pragma once
#include <optional>
#include <vector>

#include "app/gui/wiring/RunController.h"
#include "core/analysis/RunHistory.h"
#include "widgets/panels/run/RunReading.h"
#include "widgets/panels/run/ScrubBar.h"

namespace stepscope {

// stored: the state of the replayed session in the database, nothing when it is not listed (yet). Its last event may say less: who was
// killed stored no end.
RunReading readingOf(const RunHistory& shown, RunController::Phase phase, RunState liveState, std::optional<RunState> stored = {});
std::vector<ScrubMark> scrubMarks(const RunHistory& history, TimeNs end);

}  // namespace stepscope
