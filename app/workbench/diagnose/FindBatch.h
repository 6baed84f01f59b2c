// The search for a batch size: the largest micro-batch that is predicted to fit with a margin, then the knee of throughput: the smallest that trains
// nearly as many tokens a second as the best. Sizes are doubled from 1 and a few steps of each are timed.
#pragma once
#include <string>
#include <vector>

#include "app/workbench/diagnose/TimedSteps.h"

namespace stepscope {

constexpr double kNearlyTheBest = 0.95;                       // of the most tokens per second: what the knee reaches
constexpr double kShortestSearch = 1, kLongestSearch = 3600;  // seconds

struct FindBatchRequest {
    RunConfig config;  // complete
    double budgetSeconds = 60;
    std::int64_t most = 1 << 16;  // sequences at a time
};

struct BatchPoint {
    std::int64_t batch = 0;  // sequences at a time
    double ms = kUnknown;    // of a step
    double tokensPerSecond = kUnknown;
    double peakBytes = kUnknown;
    Bytes predicted;
};

struct BatchSearch {
    std::int64_t now = 0;              // of the settings
    std::int64_t largestThatFits = 0;  // as predicted, a tenth of the memory left free
    std::int64_t knee = 0;
    double gain = kUnknown;          // tokens per second at the knee ÷ at the settings' own size; unknown where that was not timed
    std::vector<BatchPoint> points;  // by rising size
    std::string setting;             // key=value that gives the knee; empty = the settings have it already
    std::string ended;               // why no larger one was tried, a sentence
};

// Errors: OutOfMemory where not even one sequence fits; BadInput where the budget is spent before two sizes were timed; else as timeSteps.
Result<BatchSearch> findBatch(const Machine& machine, const FindBatchRequest& request, const LookProgress& progress,
                              const std::atomic<bool>& cancelled);

// The refusal where not even one sequence fits. plan: of one; needed: by it, with the data's tokens where they lie on the GPU, too.
Error noBatchFits(const RunPlan& plan, const Workbench::Estimate& needed);

// The smallest size that reaches kNearlyTheBest of the best; points by rising size, at least one.
std::int64_t kneeOf(const std::vector<BatchPoint>& points);

}  // namespace stepscope
