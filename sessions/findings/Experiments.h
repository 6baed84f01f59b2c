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
    bool turned = false;      // asked with A and B in each other's place; `judged` is turned round, of B beside A as asked now
};

// Its verdict in words, and that it was asked the other way round.
std::string earlierWords(const EarlierAnswer& answer);

// Newest first, without sessions that were deleted and without `besides`; those that said nothing, or
// what cannot be (a stranger's row), are left out. turned: the same question with A and B in each other's place, whose answers count too; empty:
// there is none. An empty database has none.
Result<std::vector<EarlierAnswer>> earlierAnswers(const std::string& database, const std::string& question, std::int64_t besides = 0,
                                                  const std::string& turned = {});

}  // namespace stepscope
