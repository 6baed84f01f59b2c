// FlipEffect: what flipping a switch did to the steps around it: medians of up to 20 steps before and after, with their quartiles, and for each
// whether that is more than the same run's steps differ by where nothing was flipped (ShamFlips). Only with all 20 steps on both sides and at least
// 39 such comparisons is anything claimed. Where the machine was another one on the two sides, because other
// processes or the host took another share of it or because the steps moved by themselves, times are not compared at all. Used by the window for
// the live run and its replay, and by sessions/findings/MeasuredFlips for stored ones. Pure functions, any thread.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/analysis/flips/ShamFlips.h"
#include "core/analysis/flips/StepSample.h"

namespace stepscope {

struct Spread {
    double low = kUnknown, median = kUnknown, high = kUnknown;  // quartiles: half of the steps lie between low and high
};

struct Change {
    Spread before, after;
    double chance = kUnknown;  // flipChance(); unknown as long as there are too few shams
    bool exact = false;        // a count that no step of either side differs in: nothing to test
    double ratio() const { return after.median / before.median; }
    bool conclusive() const { return exact ? before.median != after.median : chance <= ShamTest::kLevel; }
    bool apart() const { return after.low > before.high || after.high < before.low; }  // the quartiles: says nothing of what caused it
};

struct MachineShares {  // means over some time
    double othersPct = kUnknown, stealPct = kUnknown;
};

struct FlipEffect {
    static constexpr std::size_t kSteps = ShamTest::kSteps;     // on either side
    static constexpr std::size_t kFewest = 10;                  // fewer tell nothing
    static constexpr std::size_t kWarmUp = ShamTest::kBetween;  // after a flip: caches and buffers are filled anew

    std::size_t stepsBefore = 0, stepsAfter = 0;
    Change ms, tokensPerSecond, memory, pageFaults, operations;
    double tokensBefore = kUnknown, tokensAfter = kUnknown;  // that a step trains on either side
    MachineShares machineBefore, machineAfter;
    // Why times before and after cannot be compared: "other processes took 2 % of the processors before and 45 % after". Empty = as far as is
    // known the machine was the same.
    std::string machineChange;
    bool machineSeen = true;  // as long as the last steps took; false: its next sample says what it did meanwhile

    std::size_t shams = 0;  // places without a flip that it was compared with

    bool measured() const { return stepsBefore >= kFewest && stepsAfter >= kFewest; }  // enough to show
    bool complete() const { return stepsBefore >= kSteps && stepsAfter >= kSteps; }
    bool decided() const { return complete() && shams >= ShamTest::kFewest; }  // what is said of it will not change any more
    // A step trains another number of tokens on the two sides: its time alone says nothing then.
    bool ofThroughput() const;
    // The one change of the speed that has a verdict: the time of a step, or ofThroughput() the tokens per second. Each test is wrong in one of
    // twenty flips that do nothing, so no other change is claimed beside it, except an exact one.
    const Change& told() const { return ofThroughput() ? tokensPerSecond : ms; }
    bool claimed() const { return machineChange.empty() && told().conclusive(); }
    bool faster() const { return ofThroughput() ? tokensPerSecond.ratio() > 1 : ms.ratio() < 1; }  // what is claimed
    // Why a change that is not conclusive is not: "12 of 39 comparisons without a flip so far".
    std::string doubt(const Change& change) const;
};

// What is measured: the steps on either side, each the nearest to the flip first, those that came before `before` under the same settings, as
// many as there are, the machine meanwhile, and the places without a flip.
struct FlipSides {
    std::vector<StepSample> before, after, earlier;
    std::vector<MachineSample> machine;
    std::vector<ShamFlip> shams;  // of the same run, the nearest first
};
FlipEffect measureFlip(const FlipSides& sides);
// Of a run: the steps before row `flip`, from row `from` on, and those from row `after` on, up to row `to`.
FlipEffect measureFlip(const RunHistory& history, std::size_t from, std::size_t flip, std::size_t after, std::size_t to);
// The same where several flips of one history are measured: its stretches are found once.
FlipEffect measureFlip(const RunHistory& history, const Stretches& stretches, std::size_t from, std::size_t flip, std::size_t after, std::size_t to);

// From the beginning of the earliest to the end of the latest; empty (from > to) where that is not known.
struct TimeSpan {
    double from = 0, to = -1;
};
TimeSpan timeOf(std::span<const StepSample> steps);

}  // namespace stepscope
