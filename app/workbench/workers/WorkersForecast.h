// What other numbers of workers would make of a stored run of several: a prediction (core/prediction/WorkersPrediction.h), beside what the model says
// of the workers that there were. Reads the session file; any thread.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/panes/WorkerMap.h"
#include "core/base/Result.h"
#include "core/prediction/WorkersPrediction.h"

namespace stepscope {

struct WorkersForecast {
    std::string whyNot;        // a sentence; empty: foretold
    std::int64_t workers = 0;  // that were measured
    Link link;
    bool assumed = false;                          // of the link: somebody named one in place of that which was measured
    double measuredSeconds = 0, modelSeconds = 0;  // of a step of the workers that there were, over the link that was measured
    std::vector<WorkersPrediction> predictions;    // in the order asked for
};

// numbers: of workers, from 2. assumed: what of another network is known; the rest stays as measured. Errors: the file, no such session, one that is
// no run.
Result<WorkersForecast> forecastWorkers(const std::string& database, std::int64_t session, const WorkerMap& map,
                                        const std::vector<std::int64_t>& numbers, const Link& assumed = {});

// "Predicted, not measured: 8 workers make 6.9 times the tokens/s of one ...", or why not. For people.
std::string forecastWords(const WorkersForecast& forecast);

}  // namespace stepscope
