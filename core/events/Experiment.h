// What an experiment says while it takes turns between two arms: what is asked, each block of steps, and what the pairs of blocks say so far.
// One of Event.h; core/experiment makes them, whoever shows an experiment needs nothing else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/Units.h"

namespace stepscope {

// SwitchApplied's note of the value that a measurement in turns left a run with.
constexpr const char* kMeasuredNote = "measured in turns, and found faster";

enum class Arm { A, B };
inline const char* toString(Arm arm) {
    return arm == Arm::A ? "A" : "B";
}
// Where an arm's part stands in what is kept of both.
constexpr std::size_t armPlace(Arm arm) {
    return arm == Arm::A ? 0 : 1;
}

// First of an experiment. Configurations are JSON, as sessions store them (ConfigJson.h): complete, every switch has a value.
struct ExperimentBegan {
    std::int64_t step = 0;  // of a run that goes on meanwhile; 0: the experiment stands alone
    TimeNs at;
    std::string configA, configB;
    std::string question;   // the same text for the same question on the same machine, however it was typed
    bool same = false;      // A beside itself: whatever differs is this machine's, not the settings'
    std::int64_t seed = 1;  // of the coins
    double budgetSeconds = 0;
    double delta = 0.01, alpha = 0.05;
    bool swapped = false;    // one State in the device's memory at a time: both did not fit
    std::string comparison;  // sentences: what differs beside speed, and what was therefore compared
    // Of an experiment that stands alone, so that the same can be asked again: the checkpoint or the file of weights that both began from (empty:
    // random weights), whether steps were captured afterwards, and what was asked about losses at equal time (0 seconds: nothing).
    std::string from, init;
    bool captures = true;
    double lossSeconds = 0;
    std::int64_t lossSeeds = 0;
    // Beside the look after every pair there is one when the budget is spent (PairedVerdict.h); experiments of earlier versions had none.
    bool finalLook = true;
};

struct BlockDone {
    std::int64_t step = 0;   // that the arm's State was at
    TimeNs at;               // end of the block
    TimeNs duration;         // of the steps that count
    std::int64_t pair = -1;  // from 0; -1: of the pilot, which does not count
    Arm arm = Arm::A;
    bool second = false;       // of its pair
    std::int64_t rebuild = 0;  // which instance of both arms ran it
    std::int64_t warmUp = 0;   // steps after the turn, before those that count
    std::int64_t steps = 0, tokens = 0;
    TimeNs turn;                   // from the turn to the first step that counts, rebuilding included
    TimeNs median, slowest;        // of its steps
    double loss = kUnknown;        // of its last step
    double others = kUnknown;      // processors that other processes had meanwhile, on average
    double stealPct = kUnknown;    // of this process's processors, what a virtual machine's host gave to somebody else
    std::int64_t pageFaults = 0;   // of the steps that count
    double peakBytes = kUnknown;   // of tensors, this arm alone: its State, its Program and what a step needs
    double operations = kUnknown;  // that a step of this arm runs
    double joules = kUnknown;      // of the processors meanwhile, and of the GPUs that either arm is on; all programs together
};

// What both sides had learnt after equally long training, over several seeds of which each side trained with each: a side that is faster per step is
// not always faster to a loss.
struct EqualTimeLoss {
    double seconds = 0;                                             // of training that each side had with each seed; 0: not asked
    std::int64_t seeds = 0;                                         // that both sides trained with to the end
    double a = kUnknown, b = kUnknown;                              // mean validation loss, nats
    double difference = kUnknown, low = kUnknown, high = kUnknown;  // mean of b - a over the seeds, and Student's 95 % interval; of one seed: none
    double stepsA = kUnknown, stepsB = kUnknown;                    // mean number of updates
};

// After every pair, and once more when the experiment is over.
struct ExperimentJudged {
    std::int64_t step = 0;
    TimeNs at;
    bool over = false;
    // The pair that was made; of the last event the newest one again.
    std::int64_t pair = -1;
    double difference = kUnknown;  // log(A's mean time per token / B's)
    double sameArm = kUnknown;     // see BlockPair (core/analysis/PairedVerdict.h)
    bool sameArmTurned = false;
    std::int64_t rebuild = 0;
    bool discarded = false;
    // Of all pairs so far.
    std::string outcome;                                       // "faster", "slower", "equivalent", "inconclusive": of B beside A
    std::string reason;                                        // why inconclusive, in a word; empty otherwise
    std::string why;                                           // the same as a sentence
    double ratio = kUnknown, low = kUnknown, high = kUnknown;  // time per token of A / of B
    double floor = kUnknown;                                   // what an arm beside itself says here, as a ratio
    bool rareSlowSteps = false;
    std::int64_t pairs = 0, left = 0, rebuilds = 0;  // that count; left out; instances
    double secondsToGo = kUnknown;                   // more that would decide it; 0: decided
    double seconds = 0;                              // of the experiment so far
    // What the pilot fixed before the first pair.
    double pilotVariance = kUnknown, pilotMad = kUnknown, othersLimit = kUnknown;
    std::int64_t pilotPairs = 0, pairsARebuild = 0;
    EqualTimeLoss equalTime;  // of the last event alone
};

}  // namespace stepscope
