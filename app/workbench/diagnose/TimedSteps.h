// Times a few steps of a configuration without a run: data opened, weights drawn (or a checkpoint's), a clone of that State stepped, nothing recorded
// and nothing of a run's touched. What `bench` prints, what time estimates, advice and the search for a batch size rest on. Torch-free header.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/Workbench.h"
#include "core/prediction/MachinePeaks.h"
#include "core/prediction/StepWork.h"

namespace stepscope {

constexpr std::int64_t kFewestTimed = 3;  // steps; fewer have no median
constexpr std::int64_t kMostTimed = 100'000;
constexpr std::int64_t kLargestTriedCheckpoint = 4'000'000'000;  // bytes; a larger one is not written to be timed

struct StepsRequest {
    RunConfig config;                // complete
    std::int64_t warmUp = 5;         // steps that do not count
    std::int64_t steps = 50;         // that do
    double mostSeconds = 86'400;     // of the steps that count; fewer of them where it is spent, but kFewestTimed at least
    std::int64_t capturedSteps = 0;  // more of them, whose operations are looked at: they are not timed
    bool validation = false;         // one is timed too, where the configuration validates
    std::string checkpointFolder;    // where one checkpoint is written, timed and removed, if the configuration plans any; empty = none is
    std::int64_t batchSize = 0;      // in place of the configuration\'s; 0 = that
    std::string from;                // checkpoint folder; empty = weights drawn from the seed
    int retakes = 0;                 // how many times more they are timed where others took the processors: the least disturbed ones count
};

struct StepsTiming {
    RunPlan plan;
    std::string data;  // what was read, as a run's log says it
    std::int64_t vocabulary = 0, parameters = 0, trainTokens = 0, validationTokens = 0;
    std::int64_t sequences = 0, tokens = 0;            // of a step
    std::vector<double> stepMs;                        // of each step that counted
    std::array<double, kPhases> phaseMs{};             // of a step, mean
    double faultsPerStep = kUnknown;                   // page faults
    double operations = kUnknown;                      // launches of work a step
    double peakBytes = kUnknown;                       // most bytes of tensors at a time
    double othersPct = kUnknown, stealPct = kUnknown;  // meanwhile, of the processors that this process may use
    double loss = kUnknown;                            // of the last step
    double clippedShare = kUnknown;                    // of the steps that counted: gradient norm above grad-clip; unknown where nothing clips
    double validationMs = kUnknown;                    // of one validation
    double checkpointMs = kUnknown;                    // of writing one checkpoint; unknown where none is planned, or it is too large to try
    std::string attention;                             // what really ran
    ModelSizes sizes;
    StepWork work;
    Workbench::Estimate memory;
    std::optional<CaptureDone> captured;

    // "other programs took 48 % of the processors": who disturbed these steps so that they say little of a quiet machine; empty where nobody did, or
    // where they were too short to tell.
    std::string disturbedBy() const;
    double meanMs() const;
    double medianMs() const;
    double quantileMs(double q) const;
    double tokensPerSecond() const;  // over all steps that counted: people pay for the mean
    double sequencesPerSecond() const;
    double shareOfPeak(const MachinePeaks& peaks) const;  // products' FLOP of a step ÷ mean step time ÷ peak of its precision; NaN where not measured
};

using LookProgress = std::function<void(const std::string& what)>;

// Errors: those of opening the data and of building; OutOfMemory before anything is allocated where it cannot fit; Training when a step's loss or
// gradient is no number; Cancelled when asked to, or when a run begins meanwhile (MachineTurn). Waits for no run: Unsupported while one goes on.
// Sets the calling thread's number of OpenMP threads.
Result<StepsTiming> timeSteps(const Machine& machine, const StepsRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled);

// Bounds of what a person may ask for.
Status checkSteps(const StepsRequest& request);

}  // namespace stepscope
