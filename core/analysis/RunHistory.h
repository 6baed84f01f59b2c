// RunHistory: everything the window knows about one session, in columns. It is fed the Events of a live run or of a replay,
// in order, and cannot tell which. One step costs amortised O(1) and takes one place in each column.
// Used on the GUI thread only: LiveFeed appends, charts and panels read.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/Column.h"
#include "core/analysis/Markers.h"
#include "core/analysis/RollingQuantiles.h"
#include "core/analysis/RunPlace.h"
#include "core/analysis/Smoothing.h"
#include "core/analysis/StandingEvents.h"
#include "core/events/Experiment.h"
#include "core/events/RunEvents.h"

namespace stepscope {

struct Event;

struct StepColumns {
    std::deque<std::int64_t> step, tokens;  // tokens: cumulative over this session
    std::deque<double> seconds;             // end of the step
    std::deque<double> joules;              // up to there, see RunPlace
    Column loss;
    CentredSmoothing smoothedLoss;
    Column learningRate, gradientNorm, lossScale;
    Column stepMs, tokensPerSecond;    // unknown where nobody knows how long the step took
    Column rateP10, rateP50, rateP90;  // tokens/s over the last kRateWindow steps
    std::array<SumColumn, kPhases> phaseMs;
    SumColumn otherMs;  // of the step but of no phase; never negative
    Column residentBytes, peakBytes, pageFaults, operations;
    SumColumn skipped, disturbed;  // 0 or 1: so many in any range
};

struct DeviceColumns {
    std::vector<RunPlace> place;
    Column cpuPct, othersPct, stealPct, throttledPct, residentBytes, availableBytes, gpuPct, gpuMemoryBytes, cpuPowerW, gpuPowerW;
};

struct ValidationPoint {
    RunPlace place;
    double loss = kUnknown;
    TimeNs duration;
};

// The numbers of the status line; kUnknown where there is nothing yet.
struct RunNumbers {
    std::int64_t step = 0, steps = 0;  // updates made, updates planned (0 = not known)
    double fraction = 0;               // 0..1
    std::int64_t tokens = 0;
    TimeNs elapsed;                 // of the last event
    double secondsLeft = kUnknown;  // remaining steps at the recent median, validation included
    double loss = kUnknown, smoothedLoss = kUnknown, validationLoss = kUnknown, learningRate = kUnknown, gradientNorm = kUnknown;
    std::int64_t window = 0;  // steps that the next four are taken over: those whose times are known
    double stepMsMedian = kUnknown, stepMsP10 = kUnknown, stepMsP90 = kUnknown;
    double tokensPerSecond = kUnknown;  // median, as the time beside it: one slow step moves neither
    double cpuPct = kUnknown, gpuPct = kUnknown;
    std::int64_t residentBytes = 0, availableBytes = 0;
};

// Steps that one value had while two took turns within the run (InRunExperiment).
struct TurnBlock {
    std::int64_t firstStep = 0, lastStep = 0;
    TimeNs at;  // end of it
    Arm arm = Arm::A;
    bool counts = false;  // false: of the pilot
};

// A live flip of a switch, and the first row that ran with it.
struct FlippedSwitch {
    SwitchApplied flip;
    std::size_t row = 0;
};

// What two values of a switch did while they took turns within the run.
struct JudgedTurns {
    TimeNs began;
    std::string id;           // of the switch; empty where what took turns was something else
    Value from, to;           // what the run had, and what took turns with it
    std::string sides;        // what is judged beside what, whatever it was: "amp bf16 beside off"
    std::size_t flips = 0;    // of the run, before it
    double delta = 0.01;      // see ExperimentBegan
    ExperimentJudged judged;  // of `to` beside `from`; over only once it is
};

class RunHistory {
public:
    static constexpr std::size_t kRateWindow = 100;

    // SessionStarted forgets everything before it.
    void append(const Event& event);
    // Forgets every event later than `to`, as if no more had been appended yet. Of some kinds only the newest is held, so what stands at `to` is
    // brought by the caller. Costs what is forgotten; reads nothing.
    void rewind(TimeNs to, const StandingEvents& standing);

    bool started() const { return m_info != nullptr; }
    const std::shared_ptr<const SessionInfo>& info() const { return m_info; }
    std::int64_t session() const { return m_session; }
    bool replay() const { return m_replay; }
    bool rangeTest() const { return m_config.schedule == "range-test"; }

    std::size_t rows() const { return m_steps.step.size(); }
    const StepColumns& steps() const { return m_steps; }
    const DeviceColumns& device() const { return m_device; }
    const std::vector<ValidationPoint>& validation() const { return m_validation; }
    const Markers& markers() const { return m_markers; }
    std::string detailOf(const Marker& marker) const;                         // "amp: off -> bf16 from step 611 on. sdpa-flash ran."
    const std::vector<FlippedSwitch>& flips() const { return m_flips; }       // in order of time; to the same value too
    const std::vector<TurnBlock>& turns() const { return m_turns; }           // in order of time
    const std::vector<JudgedTurns>& judgedTurns() const { return m_judged; }  // in order of time
    // The verdict of what began last, as its mark says it: in a chart of a run and beside it nothing else says which value is which.
    std::string saidOf(const ExperimentJudged& judged) const;
    // What is known of a flip (its place in flips()) because its two values took turns right after it or right before it, with no other flip in
    // between. Said of the flip: its new value beside the old one. Nothing where they did not, or where nothing could be said.
    std::optional<JudgedTurns> turnsOfFlip(std::size_t flip) const;
    // The flip is what two values in turns led to: the run took the one that was found faster, and nobody asked for the flip itself.
    bool isNewestFlipChosenByTurns() const { return !m_flips.empty() && isFlipChosenByTurns(m_flips.size() - 1); }
    bool isFlipChosenByTurns(std::size_t flip) const;                          // its place in flips()
    bool measuring() const { return m_measuring && !m_replay; }                // two values of a live run take turns
    const std::optional<StateChanged>& state() const { return m_state; }       // the last one
    const std::optional<Preparing>& preparing() const { return m_preparing; }  // until the first step
    const std::optional<TextGenerated>& text() const { return m_text; }        // the last one
    // The configuration as it is now: as started, with the switches flipped since.
    const RunConfig& config() const { return m_config; }

    RunPlace place(std::size_t row) const;
    double x(XAxis axis, std::size_t row) const;
    bool knowsTimes() const { return m_info == nullptr || !m_info->timesUnknown; }  // else places in time only keep steps in order
    bool knowsEnergy() const { return !m_device.place.empty() && m_device.place.back().joules > 0; }
    std::size_t rowAt(XAxis axis, double x) const;       // nearest row; rows() must not be 0
    std::size_t firstRowAt(XAxis axis, double x) const;  // first row with a place >= x, rows() when there is none
    RunPlace last() const;                               // of the last step, or where the session starts

    RunNumbers numbers(std::size_t window = 100) const;  // O(window)

private:
    void start(const SessionStarted& event);
    void addStep(const StepDone& event);
    void addDeviceSample(const DeviceSample& event);
    void addSwitch(const SwitchApplied& event);
    void addBlock(const BlockDone& event);
    void addBegan(const ExperimentBegan& event);
    void addJudged(const ExperimentJudged& event);
    RunPlace placeNow(std::int64_t step, TimeNs at) const;
    double joulesAt(double seconds) const;
    void addMarker(Marker marker, TimeNs at);
    void markSuggestion();  // of a range test that has ended

    std::shared_ptr<const SessionInfo> m_info;
    std::int64_t m_session = 0;
    bool m_replay = false;
    RunConfig m_config;
    StepColumns m_steps;
    DeviceColumns m_device;
    std::vector<ValidationPoint> m_validation;
    Markers m_markers;
    std::vector<FlippedSwitch> m_flips;
    std::vector<TurnBlock> m_turns;
    std::vector<JudgedTurns> m_judged;
    bool m_measuring = false;
    std::optional<StateChanged> m_state;
    std::optional<Preparing> m_preparing;
    std::optional<TextGenerated> m_text;
    TimeNs m_latest;
    TimeNs m_validationTime;
    RollingQuantiles m_rates{kRateWindow};
};

}  // namespace stepscope
