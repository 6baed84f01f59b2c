#include "sessions/record/StepSummary.h"

#include <SQLiteCpp/Statement.h>

#include "core/analysis/Statistics.h"
#include "core/analysis/Thinned.h"

namespace stepscope {

StepMedians stepMedians(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT duration_ns, tokens FROM steps WHERE session = ? ORDER BY at_ns, seq");
    select.bind(1, session);
    Thinned<double> durations, tokens;
    while (select.executeStep()) {
        durations.add(select.getColumn(0).getDouble());
        tokens.add(select.getColumn(1).getDouble());
    }
    return {median(withoutWarmUp(durations.values())), median(withoutWarmUp(tokens.values()))};
}

LastStep lastStep(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT step, loss FROM steps WHERE session = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    if (!select.executeStep()) return {};
    const SQLite::Column loss = select.getColumn(1);
    return {select.getColumn(0).getInt64(), loss.isNull() ? kUnknown : loss.getDouble()};
}

StoredSteps storedSteps(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database,
                             "SELECT count(*), ifnull(min(step), 0), ifnull(max(step), 0) FROM (SELECT step FROM steps WHERE session = ? LIMIT ?)");
    select.bind(1, session);
    select.bind(2, kMostCountedSteps + 1);
    if (!select.executeStep() || select.getColumn(0).getInt64() > kMostCountedSteps) return {};
    return {select.getColumn(0).getInt64(), select.getColumn(1).getInt64(), select.getColumn(2).getInt64()};
}

double lastValidationLoss(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT loss FROM validations WHERE session = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    if (!select.executeStep()) return kUnknown;
    const SQLite::Column loss = select.getColumn(0);
    return loss.isNull() ? kUnknown : loss.getDouble();
}

}  // namespace stepscope
