// PairedVerdict: what the pairs of blocks of an experiment say of B beside A: faster, slower, equivalent, or that they do not say. The rules were
// fixed before the first pair (PairedRules); looked at after every pair, a difference that is not there is claimed in at most alpha of all
// experiments (PairedInterval.h). Pure functions, any thread; core/experiment makes the pairs, stored ones are judged by the same function.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "core/analysis/PairedInterval.h"

namespace stepscope {

struct BlockPair {
    double difference = 0;  // log(mean time per token in A's block / in B's): above 0 = B is faster
    // log(time per token of the block before this pair / of this pair's first) where both ran the same arm, with the turn and its warm-up made
    // although the arm stayed, and sometimes both arms made anew; not a number where the arms differ, or nothing that counts came before.
    double sameArm = std::numeric_limits<double>::quiet_NaN();
    bool sameArmTurned = false;  // a coin of its own: the sign with which sameArm counts in the floor
    std::int32_t rebuild = 0;    // which instance of both Programs ran it
    bool discarded = false;      // by other processes' CPU time, blind to arm and times
};

// Who looks, and when. A quarter of alpha is for looking after every pair, which an experiment does that stops by itself; the rest is for one look at
// the end, when the time is spent that it was given beforehand. That one asks far less of the pairs, so it finds what looking all the time cannot.
enum class VerdictLook {
    AfterAPair,
    Stopped,  // somebody ended it early, and may have done so because of what it said: no other interval, but it is a difference however wide
    AtTheEnd,
};

// What ended an experiment.
enum class EndedBy {
    Itself,      // it was decided, or made all that it had to
    Budget,      // there was no time for more
    Person,      // who wanted it over
    RunsEnd,     // the run that it is within made its last step,
    RunStopped,  //   or somebody stopped that run,
    ASetting,    //   or changed one of its settings
    Breakage,    // a side can make no more steps; which and why is said by whom it broke
};

// The constants of both looks: guide, measuring.md, "Computing it again".
struct PairedRules {
    double delta = 0.01;       // a ratio within 1 +- delta counts as equal
    double alpha = 0.05;       // of all looks together
    double pilotVariance = 0;  // > 0: of a pair's difference
    double pilotMad = 0;       // > 0: median of the pilot's absolute deviations from its median
    std::size_t leastPairs = 8;
    std::size_t leastRebuilds = 6;
};

enum class PairedOutcome { Faster, Slower, Equivalent, Inconclusive };
enum class PairedReason {
    None,
    TooFewPairs,     // fewer than leastPairs count, or than leastRebuilds instances
    TooWide,         // the interval holds both "equal" and "different"
    RebuildsDiffer,  // the pairs say different, the instances' means do not: addresses or memory may be what differs
    OrderMatters,    // two blocks of one arm differ by which came first
    DiscardsDecide,  // with no pair discarded the outcome is another
    RareSlowSteps,   // the bulk is equal, the mean is not
    WithinFloor,     // no larger than what an arm says beside itself (Rounds)
};
const char* toString(PairedOutcome outcome);  // "faster", ...: stored and printed by --json, never renamed
const char* toString(PairedReason reason);

struct PairedVerdict {
    PairedOutcome outcome = PairedOutcome::Inconclusive;
    PairedReason reason = PairedReason::TooFewPairs;
    // Time per token of A / of B, above 1 = B is faster; of the pairs that count, none of them cut. Unknown without any.
    double ratio = std::numeric_limits<double>::quiet_NaN();
    double low = 0, high = std::numeric_limits<double>::infinity();
    // As a ratio: what this experiment says of an arm beside itself, |mean| + half-width. Unknown without two blocks of one arm in turn.
    double floor = std::numeric_limits<double>::quiet_NaN();
    bool rareSlowSteps = false;  // `ratio` lies outside [low, high]
    bool settled = false;        // more pairs would change nothing that is worth waiting for: the experiment stops by itself
    std::size_t pairs = 0, discarded = 0, rebuilds = 0;
    // How many more pairs would settle it, if they scatter as these do: where there is no interval yet, how many would give one. Unknown where more
    // of them need not help (OrderMatters, DiscardsDecide, instances that say the opposite), 0 when settled.
    double pairsToGo = std::numeric_limits<double>::quiet_NaN();
};

// Where there is no time for more, an interval that excludes "equal" is a difference however wide it is. pairs in the order they were made.
PairedVerdict judgePairs(std::span<const BlockPair> pairs, const PairedRules& rules, VerdictLook look);

// What a verdict is asked before it is one, of pairs that give none.
struct PairedDoubts {
    bool orderMatters = false;
    double lowOfAll = 0, highOfAll = std::numeric_limits<double>::infinity();  // the interval with nothing discarded, as ratios
};
PairedDoubts doubtsOf(std::span<const BlockPair> pairs, const PairedRules& rules, VerdictLook look);

}  // namespace stepscope
