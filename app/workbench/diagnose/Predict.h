// Predict: what each other value of each switch would do to the time of a step, as far as this machine's peaks tell; for the rest an earlier
// experiment of this machine, or "measure it". What is predicted is stored, and found again beside the experiment that asks the same.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/diagnose/TimedSteps.h"
#include "core/prediction/TimePrediction.h"
#include "sessions/findings/Experiments.h"
#include "sessions/findings/Forecasts.h"

namespace stepscope {

struct PredictRequest {
    RunConfig config;      // complete
    std::string database;  // empty = the default one
    bool keep = true;      // predictions are stored
    std::int64_t steps = 5;
    double mostSeconds = 20;
};

struct PredictedValue {
    std::string key, value;  // one change of the settings
    std::string cannot;      // why it cannot be used here; empty = it can
    std::string note;        // what the engine says of it: that it does nothing, or falls back
    std::string sameAs;      // "key=value" that runs the same here, "" = none; of the present settings their own value
    bool sameAsNow = false;  // it runs as the present settings do
    TimePrediction predicted;
    std::optional<EarlierAnswer> measured;     // the newest experiment that asked this
    std::optional<StoredPrediction> foretold;  // what had been predicted before that
};

struct PredictAnswer {
    StepsTiming timing;
    MachinePeaks peaks;
    std::vector<PredictedValue> values;  // in the order of the switches
    std::string notStored;               // why predictions could not be kept; empty = they were, or should not be
};

// Errors: as timeSteps.
Result<PredictAnswer> predict(const Machine& machine, const PredictRequest& request, const LookProgress& progress,
                              const std::atomic<bool>& cancelled);

}  // namespace stepscope
