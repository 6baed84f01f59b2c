// Experiments that a database holds, found by what they asked. Errors are those of SessionReader::open.
#pragma once
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct EarlierAnswer {
    std::int64_t session = 0;
    std::int64_t number = 1;  // which of the experiments that the session holds, from 1
    std::int64_t startedUnixMs = 0;
    double delta = 0.01;
    ExperimentJudged judged;  // the last one stored; not `over` when it was killed
};

// Newest first, without sessions that were deleted and without `besides`; those that said nothing, or
// what cannot be (a stranger's row), are left out. An empty database has none.
Result<std::vector<EarlierAnswer>> earlierAnswers(const std::string& database, const std::string& question, std::int64_t besides = 0);

}  // namespace stepscope
