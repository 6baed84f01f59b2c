// What advice is given from: numbers that were measured or predicted of one configuration on this machine. Whatever nobody measured is unknown (NaN),
// and a rule that needs it says nothing. Plain data, torch-free; any thread.
#pragma once
#include <array>
#include <optional>

#include "core/analysis/RateDiagnosis.h"
#include "core/base/Units.h"
#include "core/events/Machine.h"
#include "core/events/Phase.h"
#include "core/events/RunPlan.h"
#include "core/prediction/MachinePeaks.h"
#include "core/prediction/StepWork.h"

namespace stepscope {

// Of the processors that this process may use, what others must take meanwhile before times are said to be disturbed: other programs, and the host
// of a virtual machine.
constexpr double kDisturbingOthersPct = 10, kDisturbingStealPct = 5;

struct AdviceFacts {
    Machine machine;
    RunPlan plan;
    std::int64_t parameters = 0;
    std::int64_t vocabularyRows = 0;  // of the embedding, padding included; 0 = unknown
    StepWork work;
    MachinePeaks peaks;

    // Of timed steps.
    double stepMs = kUnknown;                            // mean
    double quartilesMs = kUnknown, medianMs = kUnknown;  // the distance between the quartiles; the middle
    std::array<double, kPhases> phaseMs{};
    double faultsPerStep = kUnknown;
    double validationMs = kUnknown;                          // of one validation
    double othersPct = kUnknown, stealPct = kUnknown;        // of the processors meanwhile
    double smallLaunches = kUnknown, smallShare = kUnknown;  // launches a step that are no product, attention or batch, and their share of its time
    double twiceTheBatchGain = kUnknown;                     // tokens per second with twice the batch ÷ as it is

    // Of attention at this shape: one layer, forward and backward, on this device.
    double manualAttentionMs = kUnknown, sdpaAttentionMs = kUnknown;

    double memoryShare = kUnknown;                                // predicted tensors ÷ what is available
    double freeDiskBytes = kUnknown, checkpointBytes = kUnknown;  // where sessions go; of this run's, at once
    double leastCheckpointBytes = kUnknown;                       // with keep=1

    // Of a run that was made with this configuration.
    std::int64_t stepsMade = 0;
    double clippedShare = kUnknown;  // of them
    double clippedAt = kUnknown;     // the norm that bounded the newest of them; unknown: that of the plan
    std::optional<RateFinding> rate;
    bool brokeDown = false;  // its loss or a gradient was no number
};

}  // namespace stepscope
