// ConfigNumbers: the few numbers that charts and summaries draw from a configuration of a stored session. No registry of today has to understand it:
// what another version wrote, or what is absent, counts as 0. Whoever runs a configuration reads its RunPlan instead. Any thread.
#pragma once
#include <cstdint>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

struct BatchShape {
    std::int64_t sequences = 0, context = 0, microBatches = 1;
    double tokens() const { return static_cast<double>(sequences) * static_cast<double>(context) * static_cast<double>(microBatches); }  // of a step
};
BatchShape batchShape(const RunConfig& config);
// Of a model that has so many positions: no sequence is longer.
void boundContext(RunConfig& config, std::int64_t positions);

// The norm above which gradients are scaled down; 0 = they are not.
double clipNorm(const RunConfig& config);

// Whether timed steps may differ by a key: validation, checkpoints and text are kept out of them, and how many there are is the experiment's matter.
bool isInTimedSteps(const std::string& key);

}  // namespace stepscope
