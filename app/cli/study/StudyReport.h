// What `ladder` and `tune` print at their end as a table for a person; as JSON: ReportJson.h of the workbench. Also of a stored study (`sessions
// show`), so whatever it prints may be a stranger's. Main thread.
#pragma once
#include <string>
#include <vector>

#include "app/cli/output/Json.h"
#include "core/analysis/StudyHistory.h"
#include "sessions/findings/Studies.h"

namespace stepscope::cli {

// repeat: the line that asks it again; may be empty. earlier: what the same question came to before, newest first.
std::string studyText(const StudyHistory& history, std::int64_t session, const std::string& repeat, const std::vector<EarlierStudy>& earlier = {});

// The rows of a ladder that was not measured yet, with what cannot be.
std::string ladderPlanText(const std::vector<StudyRow>& rows);

}  // namespace stepscope::cli
