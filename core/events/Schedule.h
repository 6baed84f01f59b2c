// Learning-rate schedules: pure arithmetic on the configuration, so that the window draws the schedule before the run and
// the trainer follows the very same function.
// Cosine: Loshchilov and Hutter, "SGDR", ICLR 2017 (without restarts); linear warm-up: Goyal et al. 2017; one-cycle: Smith and Topin
// 2018 (it takes neither warmup nor min-lr); trapezoid: warm-up, constant, linear fall in the last fifth (Haegele et al. 2024);
// range-test: an exponential sweep from min-lr to lr (Smith 2017), read by core/analysis/LrRange.
#pragma once
#include "core/events/RunConfig.h"

namespace stepscope {

// Rate used for update number `step` (1-based, as StepDone::step). Steps beyond config.steps keep the last rate.
double learningRate(const RunConfig& config, std::int64_t step);

}  // namespace stepscope
