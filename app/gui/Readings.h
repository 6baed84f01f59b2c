// From what is known about a run to what the top bar and the replay's scrubber show. Pure functions, GUI thread.
#pragma once
#include "app/gui/RunController.h"
#include "core/analysis/RunHistory.h"
#include "widgets/panels/RunReading.h"
#include "widgets/panels/ScrubBar.h"

#include <vector>

namespace stepscope {

RunReading readingOf(const RunHistory& shown, RunController::Phase phase, RunState liveState);
std::vector<ScrubMark> scrubMarks(const RunHistory& history, TimeNs end);

}  // namespace stepscope
