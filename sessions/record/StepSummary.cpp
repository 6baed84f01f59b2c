#include "sessions/record/StepSummary.h"

#include <SQLiteCpp/Statement.h>

#include <vector>

#include "core/analysis/Statistics.h"

namespace stepscope {

StepMedians stepMedians(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT duration_ns, tokens FROM steps WHERE session = ? ORDER BY at_ns, seq");
    select.bind(1, session);
    std::vector<double> durations, tokens;
    while (select.executeStep()) {
        durations.push_back(select.getColumn(0).getDouble());
        tokens.push_back(select.getColumn(1).getDouble());
    }
    return {median(withoutWarmUp(durations)), median(withoutWarmUp(tokens))};
}

LastStep lastStep(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT step, loss FROM steps WHERE session = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    if (!select.executeStep()) return {};
    const SQLite::Column loss = select.getColumn(1);
    return {select.getColumn(0).getInt64(), loss.isNull() ? kUnknown : loss.getDouble()};
}

double lastValidationLoss(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT loss FROM validations WHERE session = ? ORDER BY at_ns DESC, seq DESC LIMIT 1");
    select.bind(1, session);
    if (!select.executeStep()) return kUnknown;
    const SQLite::Column loss = select.getColumn(0);
    return loss.isNull() ? kUnknown : loss.getDouble();
}

}  // namespace stepscope
