// What was foretold and is held against what happened: steps timed before a run, how long a run would take, what a change would do. Each call opens a
// short connection of its own, so that it may run beside a recorder. Any thread but the window's own. Errors are those of opening the database; a
// write makes it where it is missing. What is read is checked: rows whose numbers cannot be are left out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Experiment.h"
#include "sessions/findings/Experiments.h"

namespace stepscope {

struct TimedSteps {
    std::string setting;  // a hash of what the time of a step depends on
    std::int64_t atUnixMs = 0;
    std::int64_t session = 0;  // of the run whose steps they are; 0 = they were timed without a run
    std::int64_t steps = 0;
    double ms = kUnknown, lowMs = kUnknown, highMs = kUnknown;  // of a step: mean, and what was usual around it
    double validationMs = kUnknown;                             // of a validation; unknown where there was none
    double checkpointMs = kUnknown;                             // of writing a checkpoint, likewise; found with the newest that has one
};
Status storeTimedSteps(const std::string& database, const TimedSteps& timed);
// The newest; nothing where there is none, and none where there is no database.
Result<std::optional<TimedSteps>> newestTimedSteps(const std::string& database, const std::string& setting);

struct StoredForecast {
    std::string source;  // "5 timed steps", "session 12"
    double seconds = kUnknown, low = kUnknown, high = kUnknown;
    double measuredSeconds = kUnknown;  // steps, validations and checkpoints alone, as the forecast counts
    std::string disturbed;              // who took the processors while the steps were timed; of one just made: such steps are not stored
};
Status storeForecast(const std::string& database, std::int64_t session, const StoredForecast& forecast);  // in place of an earlier one
Result<std::optional<StoredForecast>> forecastOfSession(const std::string& database, std::int64_t session);

// What had been foretold of a run when it began, beside what it came to.
struct ForetoldRun {
    std::int64_t session = 0;
    std::optional<StoredForecast> time;
    std::int64_t predictedBytes = 0;  // of tensors at a time; 0: not foretold
    double peakBytes = kUnknown;      // the most of them at a time in any step; unknown where nobody looked
    bool asBegun = true;              // no switch was flipped and nothing measured within it: what it took is what had been asked

    double memoryError() const;  // 0.03: 3 % more than foretold; unknown where one of both is, or where it was another run than the one foretold
};
Result<ForetoldRun> foretoldRun(const std::string& database, std::int64_t session);  // of one that is not there: nothing was foretold
// Of the newest `most` runs of a setting (TimedSteps) that went on as they had begun. None where there is no database.
Result<std::vector<ForetoldRun>> foretoldRuns(const std::string& database, const std::string& setting, std::size_t most);

struct StoredPrediction {
    std::string question;  // as an experiment's
    std::int64_t atUnixMs = 0;
    std::string setting;  // key=value
    double ratio = kUnknown, ms = kUnknown;
    std::string basis;
};
Status storePredictions(const std::string& database, const std::vector<StoredPrediction>& predictions);
// The newest one made before `before`.
Result<std::optional<StoredPrediction>> predictionOf(const std::string& database, const std::string& question, std::int64_t before);
// What was foretold of a question, and the newest experiment that answered it afterwards, that is over. A question once, the newest experiment first,
// `most` of them. None where there is no database.
struct MeasuredPrediction {
    StoredPrediction foretold;
    EarlierAnswer measured;
};
Result<std::vector<MeasuredPrediction>> measuredPredictions(const std::string& database, std::size_t most);

}  // namespace stepscope
