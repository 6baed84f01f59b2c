// ExperimentHistory: an experiment summed up from its events, live or stored: what was asked, what the pairs said, and what was seen of each side
// beside the time. One thread.
#pragma once
#include <optional>
#include <vector>

#include "core/analysis/panes/MemoryCurve.h"
#include "core/analysis/why/Waterfall.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct DeviceSample;
struct Event;

// What captures of both sides may take behind the pairs, of the time that the pairs have: with it they are within the budget that was asked for.
constexpr double kCapturesOfPairs = 1.0 / 6;
// What of a budget (seconds) that leaves for the pairs and what they need.
constexpr double secondsOfPairs(double budget, bool captures) {
    return captures ? budget / (1 + kCapturesOfPairs) : budget;
}

// Over the blocks that counted, pilot and left-out pairs excluded; unknown where nothing tells.
struct SideFacts {
    std::int64_t blocks = 0, steps = 0, tokens = 0;
    double msPerStep = kUnknown;                        // mean: people pay for all steps
    double medianMsPerStep = kUnknown;                  // median over blocks of the blocks' medians
    double tenthMs = kUnknown, ninetiethMs = kUnknown;  // that the mean step of a tenth, of nine tenths of the blocks was below
    double slowestMs = kUnknown;                        // the slowest step of all
    double tokensPerSecond = kUnknown;
    double peakBytes = kUnknown;  // the most of any block
    double faultsPerStep = kUnknown;
    double operations = kUnknown;
    double joulesPerToken = kUnknown;
};

// What the machine did while the blocks that count ran, by its samples of every half second; unknown where it does not tell, or too few samples do.
// A block may be shorter than the time between two samples, so they are not told apart by side.
struct MachineMeanwhile {
    // Between which nine tenths of the samples lie: of the GPU where one of the sides runs on one, else of the processors.
    double gpuMhzLow = kUnknown, gpuMhzHigh = kUnknown, cpuMhzLow = kUnknown, cpuMhzHigh = kUnknown;
    double throttledPct = kUnknown;  // of the periods of a quota, those in which it stopped the threads
    // Where one of the sides runs on a GPU: of the samples that know it, those in which other processes were there too, and of the time that in which
    // kernels of theirs ran.
    double gpuOthersPct = kUnknown, gpuOthersBusyPct = kUnknown;
};

// The seconds of a session in which the blocks of an experiment that count ran; unknown while none of them is there.
struct MachineWindow {
    double from = kUnknown, to = kUnknown;
    bool onGpu = false;  // one of its sides runs there
};

// Samples of the machine that were taken while something was measured, the first kMostSamplesMeanwhile of them.
class MachineSamples {
public:
    void add(const DeviceSample& sample);
    MachineMeanwhile within(const MachineWindow& window) const;

private:
    struct Sample {
        double seconds = 0, gpuMhz = kUnknown, cpuMhz = kUnknown, throttledPct = kUnknown, gpuOthers = kUnknown, gpuOthersBusyPct = kUnknown;
    };
    std::vector<Sample> m_samples;
};

class ExperimentHistory {
public:
    // Samples of the machine may come in any order with the others.
    void add(const Event& event);
    // Of its captured steps: rank 0 is A, 1 is B; others are left out.
    void add(const SliceBlock& block);
    void add(const AllocationBlock& block);

    const std::optional<ExperimentBegan>& began() const { return m_began; }
    const std::vector<BlockDone>& blocks() const { return m_blocks; }
    const std::vector<ExperimentJudged>& pairs() const { return m_pairs; }      // one a pair, as judged when it was made
    const std::optional<ExperimentJudged>& newest() const { return m_newest; }  // the last of them; over when it has ended
    // As it was when so many of the pairs had been judged: without its end, and without what was captured after it.
    ExperimentHistory after(std::size_t pairs) const;
    SideFacts facts(Arm arm) const;
    MachineWindow machineWindow() const;
    MachineMeanwhile machineMeanwhile() const { return m_samples.within(machineWindow()); }
    double speedRatio() const;  // B's tokens a second over A's, of all steps that counted
    // Seconds until nothing was left to decide; what newest() has beyond them went into captures and into losses at equal time.
    double measuringSeconds() const;
    // Seconds to give the same question when it is asked again: those that it had, or, where they did not decide it and its pairs say how long it
    // takes, so many, an hour at most.
    double secondsToAskAgain() const;
    std::size_t sameArmPairs() const;  // that count and told something of a side beside itself
    // Mean of loss(B) - loss(A) at ends of pairs where both had trained as many tokens since they were made anew; unknown where they never had.
    double lossDifference() const;
    std::string whyNoLoss() const;  // in a few words, where that is unknown and a pair was made; else empty
    // What its captured steps held when they held most, by kind and as far as it can be named, most first; empty where nothing was captured.
    std::vector<MemoryOwner> memoryAtPeak(Arm arm) const;
    // Why one of them is faster, of their captured steps and the measured times; without classes where either has none.
    WaterfallResult why() const;

private:
    std::optional<ExperimentBegan> m_began;
    std::vector<BlockDone> m_blocks;
    std::vector<ExperimentJudged> m_pairs;
    std::optional<ExperimentJudged> m_newest;
    MachineSamples m_samples;
    std::optional<double> m_decided;  // seconds of the first that is over: those after it say the same, and more
    Waterfall m_waterfall;
    MemoryCurve m_memory;
};

// Samples of the machine that an experiment looks at: half a day of them.
constexpr std::int64_t kMostSamplesMeanwhile = 100'000;

// What a session holds may be several experiments, one after the other: a run that measured switches in turns, a ladder. One of them, summed up.
struct ChosenExperiment {
    struct Entry {
        ExperimentBegan began;
        std::optional<ExperimentJudged> newest;  // not over when it was cut off
    };
    ExperimentHistory history;  // without a begin where there is none of that number
    std::int64_t number = 0;    // from 1; 0: there is none of it
    std::vector<Entry> all;     // every one, in their order
};
// wanted: from 1; 0 = the newest. events: of one session, in their order.
ChosenExperiment chosenExperiment(const std::vector<Event>& events, std::int64_t wanted = 0);

}  // namespace stepscope
