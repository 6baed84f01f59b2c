// What a list of sessions says about the steps of one: how far it came and how fast it was. Worked out by the recorder at the
// end of a run and stored; worked out anew by SessionReader for sessions that had no clean end.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>

#include "core/base/Units.h"

namespace stepscope {

struct StepMedians {  // over all stored steps, withoutWarmUp()
    double durationNs = kUnknown;
    double tokens = kUnknown;
};
StepMedians stepMedians(SQLite::Database& database, std::int64_t session);

struct LastStep {
    std::int64_t step = 0;
    double loss = kUnknown;
};
LastStep lastStep(SQLite::Database& database, std::int64_t session);
double lastValidationLoss(SQLite::Database& database, std::int64_t session);

}  // namespace stepscope
