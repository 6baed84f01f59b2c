// The phases of a step. Part of RunEvents.h, apart because Programs need nothing else of the events.
#pragma once
#include <cstddef>

namespace stepscope {

// Where the time of a step goes; resources/guide/charts.md says what happens in each. Evaluation is outside the step and has its own event.
enum class Phase { Batch, Copy, Forward, Backward, Clip, Optimizer, Waiting };  // Waiting: for other workers; 0 with one
constexpr std::size_t kPhases = 7;
const char* toString(Phase phase);  // "batch", ..., "waiting"

}  // namespace stepscope
