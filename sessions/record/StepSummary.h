// What a list of sessions says about the steps of one: how far it came and how fast it was. Worked out by the recorder at the
// end of a run and stored; worked out anew by SessionReader for sessions that had no clean end.
#pragma once
#include <SQLiteCpp/Database.h>

#include <cstdint>

#include "core/base/Units.h"

namespace stepscope {

// Over all stored steps, withoutWarmUp(); of 65 536 and more, over every second one, every fourth, and so on (Thinned), as the summary at the end of
// a run is: a run of any length takes a few megabytes to sum up.
struct StepMedians {
    double durationNs = kUnknown;
    double tokens = kUnknown;
};
StepMedians stepMedians(SQLite::Database& database, std::int64_t session);

struct LastStep {
    std::int64_t step = 0;
    double loss = kUnknown;
};
LastStep lastStep(SQLite::Database& database, std::int64_t session);

// How many steps are stored and the numbers that they have: an import may begin anywhere and leave numbers out. At most kMostCountedSteps are
// counted, as lists ask again and again; of more `count` is 0.
constexpr std::int64_t kMostCountedSteps = 100'000;
struct StoredSteps {
    std::int64_t count = 0, first = 0, last = 0;
};
StoredSteps storedSteps(SQLite::Database& database, std::int64_t session);
double lastValidationLoss(SQLite::Database& database, std::int64_t session);

}  // namespace stepscope
