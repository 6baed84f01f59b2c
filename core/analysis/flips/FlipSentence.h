// What a flip did to the time of a step, or why that cannot be said, as one sentence without the flip's name: for the command line, where there is
// no strip. Pure function, any thread.
#pragma once
#include <string>

#include "core/analysis/flips/FlipEffect.h"

namespace stepscope {

// "step time 20.0 ms → 10.0 ms, −50 %"; "step time 20.0 ms → 19.8 ms, inconclusive: 12 of 39 comparisons without a flip so far"; "not measured:
// 20 steps before it and 3 after, 10 are needed". Where a step trains another number of tokens the throughput stands behind its time, and the verdict
// is of the throughput.
std::string flipSentence(const FlipEffect& effect);

}  // namespace stepscope
