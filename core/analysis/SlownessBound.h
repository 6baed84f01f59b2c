// SlownessBound: whether B of an experiment is slower than A by more than is allowed, by the bounds of its interval, never by the estimate. For
// scripts
// (`ab --fail-if-slower`). Pure function, any thread.
#pragma once
#include "core/analysis/ExperimentHistory.h"

namespace stepscope {

enum class Slowness { Within, Beyond, Unknown };

// percent: 5 allows B 95 % of A's speed. An interval that is too wide for a verdict can be narrow enough for this; then, as for a verdict, it must
// say the same with the pairs that were left out, and two blocks of one side must not differ by which came first. Where rare slow steps weigh, their
// mean must say it too.
Slowness slownessOf(const ExperimentHistory& history, double percent);

}  // namespace stepscope
