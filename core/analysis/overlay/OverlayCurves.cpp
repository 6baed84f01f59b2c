// How a metric of a run becomes points, by its pyramid, its sums or its smoothing.
#include "core/analysis/overlay/OverlayCurves.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

bool bySample(RunMetric metric) {
    return metric == RunMetric::Utilisation;
}

Places placesOf(const OverlaidRun& run, RunMetric metric, XAxis axis) {
    if (bySample(metric)) return {run.samplePlaces.size(), [&run, axis](std::size_t row) { return run.samplePlaces[row].on(axis); }};
    const std::vector<double>& places = run.places(axis);
    return {places.size(), [&places](std::size_t row) { return places[row]; }};
}

const RowExtremes* extremesOf(const OverlaidRun& run, RunMetric metric) {
    return metric == RunMetric::Loss ? &run.loss : metric == RunMetric::GradientNorm ? &run.gradientNorm : nullptr;
}

const Column& columnOf(const OverlaidRun& run, RunMetric metric) {
    return metric == RunMetric::LearningRate ? run.learningRate : metric == RunMetric::Memory ? run.bytes : run.utilisation;
}

bool isMean(RunMetric metric) {
    return metric == RunMetric::StepTime || metric == RunMetric::Throughput;
}

// In rows, where the person asks in steps.
std::size_t halfOf(const OverlaidRun& run, std::size_t smoothing) {
    return smoothing == 0 ? 0 : std::max<std::size_t>(1, smoothing / run.every);
}

// Of the rows, widened to what smoothing asks for around their middle.
double meanOf(const OverlaidRun& run, RunMetric metric, RowRange rows, std::size_t half) {
    const std::size_t middle = rows.begin + (rows.end - rows.begin) / 2;
    rows.begin = std::min(rows.begin, middle - std::min(middle, half));
    rows.end = std::max(rows.end, std::min(run.rows(), middle + half + 1));
    const double ms = run.ms.sum(rows.begin, rows.end);
    if (metric == RunMetric::StepTime) {
        // No step takes no time: a log without times told none.
        const double steps = run.stepsBefore(rows.end) - run.stepsBefore(rows.begin);
        return steps > 0 && ms > 0 ? ms / steps : kUnknown;
    }
    const double tokens = run.tokens[rows.end - 1] - (rows.begin > 0 ? run.tokens[rows.begin - 1] : run.tokensBefore);
    return ms > 0 && run.knowsTokens() ? 1000 * tokens / ms : kUnknown;
}

double smoothedOf(const RowExtremes& column, RowRange rows, std::size_t half) {
    const std::size_t row = rows.begin + (rows.end - rows.begin) / 2;
    if (!std::isfinite(column.low[row])) return kUnknown;
    return column.smoothed.at(row, std::max(half, (rows.end - rows.begin) / 2));
}

// One value for what a column of pixels holds; unknown where the metric is drawn by its extremes.
double oneValue(const OverlaidRun& run, RunMetric metric, RowRange rows, std::size_t half) {
    if (isMean(metric)) return meanOf(run, metric, rows, half);
    return smoothedOf(*extremesOf(run, metric), rows, half);
}

bool hasOneValue(RunMetric metric, std::size_t half) {
    return isMean(metric) || (half > 0 && !bySample(metric) && metric != RunMetric::LearningRate && metric != RunMetric::Memory);
}

struct LineMaker {
    bool logarithmicX = false, logarithmicY = false;
    std::vector<Line> lines{1};

    void add(double x, double y) {
        if (!std::isfinite(y) || (logarithmicY && y <= 0)) return gap();
        if (logarithmicX && x <= 0) return;
        lines.back().push_back({x, y});
    }
    void gap() {
        if (!lines.back().empty()) lines.emplace_back();
    }
    std::vector<Line> made() {
        if (lines.back().empty()) lines.pop_back();
        return std::move(lines);
    }
};

std::vector<Line> lineOfValues(const OverlaidRun& run, RunMetric metric, const CurveView& view, const Places& places, std::size_t half) {
    LineMaker line{view.x.logarithmic, view.logarithmicY};
    const auto add = [&](RowRange rows) { line.add(places.at(rows.begin + (rows.end - rows.begin) / 2), oneValue(run, metric, rows, half)); };
    const RowRange all = visibleRows(places, view.x);
    if (all.begin < all.end && places.at(all.begin) < view.x.low) add({all.begin, all.begin + 1});
    for (const RowRange& rows : pixelColumns(places, view.x, view.pixels)) add(rows);
    if (all.begin < all.end && places.at(all.end - 1) > view.x.high) add({all.end - 1, all.end});
    return line.made();
}

// Where a row is several steps: its lowest value from one column, its highest from the other.
std::vector<Line> lineOfExtremes(const RowExtremes& column, const CurveView& view, const Places& places) {
    LineMaker line{view.x.logarithmic, view.logarithmicY};
    for (const RowRange& rows : pixelColumns(places, view.x, view.pixels)) {
        const auto low = column.low.extremes(rows.begin, rows.end, view.logarithmicY), high = column.high.extremes(rows.begin, rows.end);
        if (!low.any || !high.any) {
            line.gap();
            continue;
        }
        const bool lowFirst = low.low <= high.high;
        const auto addLow = [&] { line.add(places.at(low.low), column.low[low.low]); };
        if (lowFirst) addLow();
        line.add(places.at(high.high), column.high[high.high]);
        if (!lowFirst) addLow();
    }
    return line.made();
}

// The nearest row, none for a place more than half a row beyond the run.
std::optional<std::size_t> rowAt(const Places& places, double x) {
    if (places.count == 0 || !std::isfinite(x)) return std::nullopt;
    const double first = places.at(0), last = places.at(places.count - 1);
    const double half = places.count > 1 ? (last - first) / static_cast<double>(places.count - 1) / 2 : 0.5;
    if (x < first - half || x > last + half) return std::nullopt;
    const std::size_t after = places.firstAt(x);
    if (after == 0) return 0;
    if (after == places.count || x - places.at(after - 1) < places.at(after) - x) return after - 1;
    return after;
}

CurveSample sampleOf(const OverlaidRun& run, RunMetric metric, const CurveView& view, RowRange rows, std::size_t half) {
    CurveSample sample;
    if (hasOneValue(metric, half)) {
        sample.low = sample.middle = sample.high = oneValue(run, metric, rows, half);
    } else {
        const RowExtremes* range = extremesOf(run, metric);
        const Column& lows = range != nullptr ? range->low : columnOf(run, metric);
        const Column& highs = range != nullptr ? range->highest() : lows;
        const auto low = lows.extremes(rows.begin, rows.end, view.logarithmicY), high = highs.extremes(rows.begin, rows.end);
        if (!low.any || !high.any) return {};
        sample.low = lows[low.low];
        sample.high = highs[high.high];
        const std::size_t middle = rows.begin + (rows.end - rows.begin) / 2;
        const double at = (static_cast<double>(lows[middle]) + highs[middle]) / 2;
        sample.middle = std::isfinite(at) ? std::clamp(at, sample.low, sample.high) : (sample.low + sample.high) / 2;
    }
    if (!std::isfinite(sample.middle) || (view.logarithmicY && sample.low <= 0)) return {};
    return sample;
}

double medianOf(std::vector<double>& values) {
    const std::size_t half = values.size() / 2;
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
    if (values.size() % 2 == 1) return values[half];
    return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)) + values[half]) / 2;
}

}  // namespace

std::vector<Line> curveOf(const OverlaidRun& run, RunMetric metric, const CurveView& view) {
    if (!run.knows(view.axis)) return {};
    const Places places = placesOf(run, metric, view.axis);
    const std::size_t half = halfOf(run, view.smoothing);
    if (hasOneValue(metric, half)) return lineOfValues(run, metric, view, places, half);
    const RowExtremes* range = extremesOf(run, metric);
    if (range != nullptr && !range->high.empty()) return lineOfExtremes(*range, view, places);
    return decimate(places, range != nullptr ? range->low : columnOf(run, metric), view.x, view.pixels, view.logarithmicY);
}

double valueAt(const OverlaidRun& run, RunMetric metric, XAxis axis, double x, std::size_t smoothing) {
    if (!run.knows(axis)) return kUnknown;
    const auto row = rowAt(placesOf(run, metric, axis), x);
    if (!row) return kUnknown;
    const std::size_t half = halfOf(run, smoothing);
    if (hasOneValue(metric, half)) return oneValue(run, metric, {*row, *row + 1}, half);
    const RowExtremes* range = extremesOf(run, metric);
    return range != nullptr ? (static_cast<double>(range->low[*row]) + range->highest()[*row]) / 2 : columnOf(run, metric)[*row];
}

std::vector<CurveSample> resample(const OverlaidRun& run, RunMetric metric, const CurveView& view) {
    std::vector<CurveSample> samples(view.pixels);
    if (!run.knows(view.axis)) return samples;
    const Places places = placesOf(run, metric, view.axis);
    const std::size_t half = halfOf(run, view.smoothing);
    std::size_t begin = places.firstAt(view.x.low);
    for (std::size_t pixel = 0; pixel < view.pixels; ++pixel) {
        const double share = static_cast<double>(pixel + 1) / static_cast<double>(view.pixels);
        const double right =
            pixel + 1 == view.pixels ? std::nextafter(view.x.high, std::numeric_limits<double>::infinity()) : view.x.fromShare(share);
        const std::size_t end = places.firstAt(right, begin);
        if (begin < end) {
            samples[pixel] = sampleOf(run, metric, view, {begin, end}, half);
        } else if (const auto row = rowAt(places, view.x.fromShare(share - 0.5 / static_cast<double>(view.pixels)))) {
            samples[pixel] = sampleOf(run, metric, view, {*row, *row + 1}, half);  // zoomed in further than one step a pixel
        }
        begin = end;
    }
    return samples;
}

GroupCurve groupCurve(std::span<const OverlaidRun* const> runs, RunMetric metric, const CurveView& view) {
    std::vector<std::vector<CurveSample>> all;
    for (const OverlaidRun* run : runs) all.push_back(resample(*run, metric, view));
    GroupCurve curve;
    LineMaker median{view.x.logarithmic, view.logarithmicY};
    std::vector<double> middles;
    for (std::size_t pixel = 0; pixel < view.pixels; ++pixel) {
        const double x = view.x.fromShare((static_cast<double>(pixel) + 0.5) / static_cast<double>(view.pixels));
        middles.clear();
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const auto& samples : all) {
            if (!std::isfinite(samples[pixel].middle)) continue;
            middles.push_back(samples[pixel].middle);
            low = std::min(low, samples[pixel].low);
            high = std::max(high, samples[pixel].high);
        }
        if (middles.empty()) {
            median.gap();
            continue;
        }
        median.add(x, medianOf(middles));
        curve.low.push_back({x, low});
        curve.high.push_back({x, high});
    }
    curve.median = median.made();
    return curve;
}

}  // namespace stepscope
