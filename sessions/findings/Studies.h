// Ladders and searches that a database holds, found by what they asked. Errors are those of SessionReader::open.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/StudyHistory.h"
#include "core/base/Result.h"

namespace stepscope {

struct EarlierStudy {
    std::int64_t session = 0;
    std::int64_t startedUnixMs = 0;
    StudyHistory history;  // what was asked and the newest of every row; without pairs
};

// Newest first, of those that came to something: without sessions that were deleted, and without those that another one went on with, for its rows
// hold theirs, and without those that hold what cannot be (a stranger's rows). besides: a session that is left out with those that it went on with,
// and with all that began after it; 0: none is. An empty database has none.
Result<std::vector<EarlierStudy>> earlierStudies(const std::string& database, const std::string& question, std::int64_t besides = 0);

}  // namespace stepscope
