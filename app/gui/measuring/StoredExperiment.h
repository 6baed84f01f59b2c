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
// Errors: those of SessionReader, and that the session is no experiment.
Result<StoredView> storedView(const std::string& database, std::int64_t session);

// The same question with the next seed. Errors: it is not known what was asked, or its settings are of another version of this program.
Result<ExperimentRequest> requestAgain(const ExperimentHistory& history, const std::string& database);

}  // namespace stepscope
