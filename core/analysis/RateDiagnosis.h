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

enum class RateTrouble { TooHigh, TooLow, DecaysLate };
struct RateFinding {
    RateTrouble trouble = RateTrouble::TooHigh;
    double highest = 0;    // rate of all steps
    std::string sentence;  // what was seen and what to try
};

// steps: rate and loss of every step, in order. untrained: the loss of a model that knows nothing, ln(vocabulary); NaN where the run did not begin
// there, or its data hold nothing to learn: then a flat beginning means nothing. A loss that is no number: no diagnosis (see Breakdown). every: of
// so many steps one is in `steps` (Thinned). firstStep: the number of the step before the first of them.
std::optional<RateFinding> findRateTrouble(std::span<const LrRangePoint> steps, double untrained = std::numeric_limits<double>::quiet_NaN(),
                                           std::size_t every = 1, std::int64_t firstStep = 0);
// Its sentence alone.
std::optional<std::string> diagnoseRate(std::span<const LrRangePoint> steps, double untrained = std::numeric_limits<double>::quiet_NaN(),
                                        std::size_t every = 1, std::int64_t firstStep = 0);

// The rates that models of about this size are usually trained with; nothing below 62 M parameters: small ones bear more.
struct UsualRates {
    double low = 0, high = 0;
};
std::optional<UsualRates> usualRates(std::int64_t parameters);
// Which rates models of about this size are usually trained with, as a sentence.
std::string typicalRates(std::int64_t parameters);

}  // namespace stepscope
