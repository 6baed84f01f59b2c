// OverlaidRun: of one stored run what charts of several runs show: a few columns, in rows of one step, or of several where a run is very long.
// Made by OverlaidRunBuilder on a reader's thread (sessions/findings/OverlaidReader), never changed after, read by the charts on the GUI thread.
// Torch-free, Qt-free, without SQL.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/Column.h"
#include "core/analysis/RunComparison.h"
#include "core/analysis/RunHistory.h"
#include "core/analysis/Smoothing.h"

namespace stepscope {

// In the order of the charts of the page Live.
enum class RunMetric { Loss, LearningRate, GradientNorm, StepTime, Throughput, Utilisation, Memory };

// One step as it is stored; kUnknown where a number is not known.
struct OverlaidStep {
    std::int64_t step = 0;
    double seconds = 0;  // end of it, since the session began
    double ms = 0;       // its wall time; below 0 counts as 0
    std::int64_t tokens = 0;
    double loss = kUnknown, learningRate = kUnknown, gradientNorm = kUnknown;
    double bytes = kUnknown;  // memory: the most that tensors held, or where nobody looked what the process held
    bool disturbed = false;
};

// The smallest and the largest value of each row, and their smoothed middle.
struct RowExtremes {
    Column low, high;  // high stays empty where a row is one step: then low is the value
    CentredSmoothing smoothed;

    const Column& highest() const { return high.empty() ? low : high; }
};

// What the table of runs says of one.
struct RunFigures {
    std::int64_t steps = 0;             // that are stored
    double msMedian = kUnknown;         // of steps that tell its speed: RunComparison's rule
    double tokensPerSecond = kUnknown;  // at the median time a token
    double lossLast = kUnknown;         // mean of the last 20 known ones
    double validationLoss = kUnknown;   // the last
    double peakBytes = kUnknown;
    std::int64_t flips = 0;
};

struct OverlaidRun {
    std::int64_t session = 0;
    std::shared_ptr<const SessionInfo> info;  // null: not known
    std::size_t every = 1;                    // steps a row; the last row may hold fewer
    bool sketch = false;                      // of each row one step alone was read, to be seen until all of it is; of figures only `steps` is known
    std::vector<double> step, tokens, seconds;  // by row: where its last step ended; none of them goes back
    double tokensBefore = 0;                    // of a resumed run, that the run before had trained
    RowExtremes loss, gradientNorm;
    Column learningRate, bytes;
    SumColumn ms;  // of a row's steps together
    std::vector<RunPlace> samplePlaces;
    Column utilisation;  // by sample, in percent: of the GPU where there is one, else of this process's cores
    bool ofGpu = false;
    Markers flips;  // of a run with very many the newest
    FlippedValues flipped;
    RunFigures figures;

    std::size_t rows() const { return step.size(); }
    // What another program logged may not say how many tokens a step had: then every place on that axis is 0.
    bool knowsTokens() const { return !tokens.empty() && tokens.back() > 0; }
    // Nor how long a step took: then its places in time are none of its own.
    bool knowsTimes() const { return !placedOnly() && ms.sum(0, ms.size()) > 0; }
    // Its log held no times: those of its steps only keep them in order.
    bool placedOnly() const { return info != nullptr && info->timesUnknown; }
    bool knows(XAxis axis) const { return axis == XAxis::Tokens ? knowsTokens() : axis != XAxis::WallTime || knowsTimes(); }
    const std::vector<double>& places(XAxis axis) const { return axis == XAxis::Tokens ? tokens : axis == XAxis::WallTime ? seconds : step; }
    // Steps made before a row; of rows() all of them.
    double stepsBefore(std::size_t row) const {
        return static_cast<double>(std::min<std::int64_t>(static_cast<std::int64_t>(row * every), figures.steps));
    }
};

class OverlaidRunBuilder {
public:
    OverlaidRunBuilder(std::int64_t session, std::shared_ptr<const SessionInfo> info, std::size_t every = 1);

    void expect(std::size_t steps);  // so many follow, about
    // In order of time.
    void add(const OverlaidStep& step);
    // One step in place of the `every` that end with it: the run is a sketch then. Steps of a run are added in this way or in the other.
    void addInPlaceOfMany(const OverlaidStep& step);
    void addSample(const DeviceSample& sample);
    void addValidation(double loss) { m_run->figures.validationLoss = loss; }
    void addFlip(const SwitchApplied& flip);
    std::size_t steps() const { return static_cast<std::size_t>(m_run->figures.steps); }
    // Ends it. Nothing may be added after.
    std::shared_ptr<const OverlaidRun> finish();
    // What RunComparison looks at, without losses, tokens and times by step: of the same steps. After finish().
    const StoredRun& facts() const { return m_facts; }

private:
    void beginTokens(const OverlaidStep& first);
    void closeRow();

    std::shared_ptr<OverlaidRun> m_run;
    StoredRun m_facts;
    struct Row {
        std::size_t steps = 0, losses = 0, norms = 0;
        double ms = 0, loss = 0, lossLow = 0, lossHigh = 0, norm = 0, normLow = 0, normHigh = 0, rate = kUnknown, bytes = kUnknown;
    } m_row;
    OverlaidStep m_last;
    double m_tokens = 0;
    std::vector<DeviceSample> m_samples;
    std::vector<SwitchApplied> m_flips;
    std::vector<double> m_lastLosses;
};

// Mean of the last 20 known losses up to a place on an axis; unknown where there are none, and where the place or the run's own is not known.
double lossUpTo(const OverlaidRun& run, XAxis axis, double place);

}  // namespace stepscope
