// RateDiagnosis: what the loss curve of a whole run says about its learning rate: it went up and down (too high), it hardly moved at the start (too
// low), or it stood still until the rate decayed (decay earlier). Silent unless the curve is far outside what the noise of batches
// can do. Told by app/workbench at the end of a run. Pure, any thread; O(steps).
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "core/analysis/LrRange.h"

namespace stepscope {

// steps: rate and loss of every step, in order. untrained: the loss of a model that knows nothing, ln(vocabulary); NaN where the run did not begin
// there, or its data hold nothing to learn: then a flat beginning means nothing. A loss that is no number: no diagnosis (see Breakdown). every: of
// so many steps one is in `steps` (Thinned).
std::optional<std::string> diagnoseRate(std::span<const LrRangePoint> steps, double untrained = std::numeric_limits<double>::quiet_NaN(),
                                        std::size_t every = 1);

// Which rates models of about this size are usually trained with, as a sentence.
std::string typicalRates(std::int64_t parameters);

}  // namespace stepscope
