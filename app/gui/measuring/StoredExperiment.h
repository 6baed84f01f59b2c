// An experiment as the page Compare shows it: of a request that is being measured, or of what a database holds. Pure but for the database; any
// thread.
#pragma once
#include <string>

#include "app/workbench/Workbench.h"
#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

CompareView viewOf(const ExperimentRequest& request);

struct StoredView {
    CompareView view;
    bool goesOn = false;  // another program still measures it
};
// Of an experiment, or of what a run or a ladder measured. number: which of the experiments that the session holds, from 1; 0: the newest. Errors:
// those of SessionReader, and that the session holds none, or none of that number.
Result<StoredView> storedView(const std::string& database, std::int64_t session, std::int64_t number = 0);

// What had been predicted of its question before then (Unix milliseconds); nothing where nothing was.
void tellForetold(CompareView& view, const std::string& database, const std::string& question, std::int64_t before);

// What both sides' memory is at its highest point; nothing where their settings cannot be read, or not be run here.
void tellMemory(CompareView& view, const Workbench& workbench);

// The same question with the next seed. Errors: it is not known what was asked, or its settings are of another version of this program.
Result<ExperimentRequest> requestAgain(const ExperimentHistory& history, const std::string& database);

}  // namespace stepscope
