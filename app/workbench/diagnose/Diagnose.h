// Diagnose: everything that can be said of a configuration on this machine before it runs: the machine, the place where sessions go, the data, what
// fits, what switches can be used, how long it takes, and what is worth trying. Asked by `diagnose` and by the page of that name, on a thread of
// their own.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/diagnose/Estimate.h"
#include "core/advice/Advice.h"

namespace stepscope {

struct DiagnoseRequest {
    RunConfig config;          // complete
    std::string database;      // where sessions go; empty = the default one
    bool keep = true;          // timed steps are stored there, for the forecast of a run
    std::int64_t session = 0;  // a run of these settings whose curve and gradients are looked at; 0 = none
    std::int64_t steps = 5;    // timed; 0 = nothing is timed, and peaks are taken from what is known
    double mostSeconds = 20;   // of the timed steps; and as many for those with twice the batch
};

struct DataFacts {
    std::string name;         // as the setting says it
    std::string description;  // what was read; empty where it was not
    std::string encoding;     // "UTF-8 text, byte tokens", "ready token ids"
    std::int64_t bytes = -1;  // of the file or files; -1 = not known
    std::int64_t trainTokens = 0, validationTokens = 0, vocabulary = 0;
    double epochs = kUnknown;  // that the run reads of the training part
};

struct DiskFacts {
    std::string place;                 // folder of the sessions
    std::int64_t freeBytes = -1;       // -1 = nobody can tell
    std::int64_t checkpointBytes = 0;  // that the run will keep, and the one it writes beside them
};

struct Diagnosis {
    Machine machine;
    RunConfig config;
    Bytes availableMemory;
    DiskFacts disk;
    DataFacts data;
    Workbench::Estimate memory;
    std::int64_t batchThatFits = 0;  // sequences at a time that are predicted to leave a tenth of the memory free; 0 = none
    SwitchCatalogue switches;
    std::vector<std::string> problems;  // sentences: what keeps it from running, or should be looked at
    std::optional<Error> error;         // the first of them that keeps it from running
    std::optional<StepsTiming> timing;
    std::optional<TimeEstimate> estimate;
    MachinePeaks peaks;
    std::vector<Advice> advice;
};

// Errors: Cancelled; what is wrong with the session that is named. Whatever keeps the configuration from running is within the answer.
Result<Diagnosis> diagnose(const Machine& machine, const DiagnoseRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled);

}  // namespace stepscope
