// LrRange: reads a learning-rate range test (Smith, "Cyclical Learning Rates for Training Neural Networks", WACV 2017): the loss over
// an exponential sweep of rates, smoothed, the rate it suggests, and how it ended. Torch-free; used by the command line and the window.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

struct LrRangePoint {
    double rate = 0;
    double loss = 0;  // NaN or infinite = the run broke down here
};

struct LrRange {
    std::vector<double> smoothed;  // one a point, mean over a centred window; NaN from the first loss that is no number
    double suggestion = 0;         // where the smoothed loss falls most steeply over the logarithm of the rate
    std::size_t suggestedAt = 0;   // the point nearest to it
    double lowest = 0;             // rate at the lowest smoothed loss before divergence
    double divergedAt = 0;         // first rate at which the smoothed loss is a tenth above where it began, or no number; 0 = nowhere
};

// points: rates rising. Errors: fewer than 20 points, or a loss that fell nowhere.
Result<LrRange> readLrRange(std::span<const LrRangePoint> points);
// LrRange::smoothed of any number of points: there is a curve also where nothing can be suggested.
std::vector<double> smoothedLoss(std::span<const LrRangePoint> points);
// Whether a loss is so far above the lowest one that the rest of a sweep would only repeat that.
bool hasBrokenDown(double loss, double lowest);
// How the sweep ended, without a full stop. whole: it was let to the highest rate. points: those that `range` was read from.
std::string endingOf(const LrRange& range, std::span<const LrRangePoint> points, bool whole);
// What it found, or why nothing, as one sentence for a log.
std::string sentenceOf(const Result<LrRange>& range);

}  // namespace stepscope
