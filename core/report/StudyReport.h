// The report of a study: a ladder of switches (every rung beside the one below it, what the top gives beside the bottom and loses without each
// rung), or a search for the fastest settings (what it recommends, what was rejected and why). Pure function.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/StudyHistory.h"
#include "core/report/Document.h"
#include "core/report/ReportFacts.h"

namespace stepscope::report {

// What a ladder was read from, where `facts.repeat` cannot name it: shown as a file to save. Empty for a built-in ladder and for a search.
struct StudyFacts : ReportFacts {
    std::string ladderFile;
    std::vector<std::string> earlier;  // what the same question came to before, a sentence each
};

Document studyReport(const StudyHistory& history, const StudyFacts& facts);

}  // namespace stepscope::report
