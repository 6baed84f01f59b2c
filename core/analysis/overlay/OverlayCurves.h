// OverlayCurves: what of a stored run one chart draws, as points: one curve a run, or of several runs that belong together the median and the band
// that holds them. Costs O(pixels * log rows) a run. Pure functions; the charts call them on the GUI thread.
#pragma once
#include <span>
#include <vector>

#include "core/analysis/Decimate.h"
#include "core/analysis/overlay/OverlaidRun.h"

namespace stepscope {

struct CurveView {
    XAxis axis = XAxis::Step;
    Scale x;
    std::size_t pixels = 0;     // columns that the curve has points in
    std::size_t smoothing = 0;  // steps on either side of a point; 0: as it was measured
    bool logarithmicY = false;  // values <= 0 are gaps then
};

// Loss and gradient norm: the smoothed line, or without smoothing the smallest and the largest value a column. Step time and throughput: means over
// what a column holds, at least the steps that smoothing asks for. Learning rate, memory, utilisation: smallest and largest a column. Nothing along
// an axis on which nobody knows the places of the run (OverlaidRun::knows).
std::vector<Line> curveOf(const OverlaidRun& run, RunMetric metric, const CurveView& view);

// The value at a place, as the curve has it there; unknown outside of the run and where nothing was measured.
double valueAt(const OverlaidRun& run, RunMetric metric, XAxis axis, double x, std::size_t smoothing);

// What of a run lies in one column.
struct CurveSample {
    double low = kUnknown, middle = kUnknown, high = kUnknown;  // all unknown where the run does not reach, or measured nothing
};
std::vector<CurveSample> resample(const OverlaidRun& run, RunMetric metric, const CurveView& view);  // one a column, from left to right

// At each column over those runs that reach it: the median of their middles, and the band from their lowest to their highest value.
struct GroupCurve {
    std::vector<Line> median;  // broken where none of them has a value
    Line low, high;            // of the band, without the columns where none of them has a value
};
GroupCurve groupCurve(std::span<const OverlaidRun* const> runs, RunMetric metric, const CurveView& view);

}  // namespace stepscope
