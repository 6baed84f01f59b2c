// What an experiment says, as sentences: its verdict, and why it has none. Used by the window, the command line, logs and reports. Pure functions.
#pragma once
#include <string>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct MachineMeanwhile;
struct RunConfig;

// What is done when the verdict stands and steps of both are captured, as Preparing says it.
constexpr const char* kLookingWhy = "still looking at why: both sides are captured";

// "faster by 12.3 %" and "[11.0 %, 13.6 %]"; where nothing is claimed there is no interval.
struct JudgedParts {
    std::string verdict, interval;
};
JudgedParts judgedParts(const ExperimentJudged& judged, double delta);
// Both: "faster by 12.3 % [11.0 %, 13.6 %]", "3.31 times as fast [3.27, 3.36]", "no difference of more than 1 %", "inconclusive": of B beside A.
std::string judgedWords(const ExperimentJudged& judged, double delta);

// What the two sides are called in sentences: "amp=off" and "amp=bf16" where they differ in one setting alone, else A and B.
struct ArmNames {
    std::string a = "A", b = "B";
    bool named() const { return b != "B"; }
};
ArmNames armNames(const RunConfig& a, const RunConfig& b);
ArmNames armNames(const ExperimentBegan& began);  // A and B too where its settings cannot be read
// What one side is called by itself, in a sentence that says what is wrong with it: "amp=bf16", "amp=bf16 fusion=step", of many settings the first
// three and how many more there are. The letter where both are equal.
std::string nameOfSide(const RunConfig& a, const RunConfig& b, Arm arm);
// The words above as a headline: "amp=bf16 is faster than amp=off by 12.3 % [11.0 %, 13.6 %]", of A and B "B is faster by …"; "Inconclusive".
std::string verdictHeadline(const ExperimentJudged& judged, double delta, const ArmNames& names = {});
// The same for a line among others, which says of everything what it is about: "amp=bf16 beside amp=off: inconclusive", "B beside A: faster by …".
std::string verdictLine(const ExperimentJudged& judged, double delta, const ArmNames& names);

// Of one configuration beside itself. As a headline: "Faster by 3.0 % [1.2 %, 4.8 %], though both sides are the same"; what claims nothing reads as
// above. As a whole sentence: "One configuration beside itself: inconclusive, in 3 pairs of blocks. …". What must be known beside a claim, empty
// where there is none; alpha: how often there may be one by chance.
std::string headlineBesideItself(const ExperimentJudged& judged, double delta);
std::string sentenceBesideItself(const ExperimentJudged& judged, double delta);
std::string claimBesideItself(const ExperimentJudged& judged, double alpha);
// Behind what was captured of both sides of such an experiment.
constexpr const char* kWhyBesideItself = "Both sides are one configuration: what differs here is how this machine ran it.";

// The same measurement, of A beside B.
ExperimentJudged turnedRound(ExperimentJudged judged);

// Which is judged beside which, for lines that stand by themselves: "amp bf16 beside off" of a switch whose two values took turns, else "lr=0.1
// batch-size=4 beside lr=0.2 batch-size=8", "one configuration beside itself"; "B beside A" where the settings cannot be read.
std::string sidesOfTurns(const std::string& id, const std::string& from, const std::string& to);
std::string sidesInWords(const ExperimentBegan& began);

// A whole sentence: the words above, on how many pairs, and why where it is inconclusive. sides: what is judged beside what.
std::string judgedSentence(const ExperimentJudged& judged, double delta = 0.01, const std::string& sides = "B beside A");

// verdictLine as a whole sentence, of the same.
std::string verdictSentence(const ExperimentJudged& judged, double delta, const ArmNames& names);

// Of two values of a switch that took turns within a run: the same by their names, what one of them said beside itself (`same` comparisons), and
// which the run went on with.
struct TurnsWords {
    std::string id, from, to;  // of the switch; what the run had, and what took turns with it
    bool changed = false;      // the run went on with `to`
    std::size_t same = 0;
};
std::string turnsSentence(const ExperimentJudged& judged, double delta, const TurnsWords& turns);

// What both sides learnt in equally long training, and whether what is faster per token shows there; empty where it was not asked.
std::string equalTimeSentence(const ExperimentJudged& judged, const ArmNames& names = {});

// Of the losses at equal tokens, B's less A's: "the same to four digits", "that of B is 0.0123 lower on average". difference: a number.
std::string lossApart(double difference);

// The verdict's ratio is the mean of the pairs, each of which counts alike; a table of both sides shows what all steps took together, in which the
// machine's slow stretches weigh more. Where the two are not alike, a sentence that says so; else empty. speedRatio: B's tokens a second over A's.
std::string meansSentence(const ExperimentJudged& judged, double speedRatio, double delta);

// That clocks went up and down by more than a twentieth meanwhile, a quota stopped the threads, or others were on the GPU: sentences, empty where
// none of that was as far as is known.
std::string machineSentence(const MachineMeanwhile& machine);

// What had been foretold of B's speed as a multiple of A's, and from what, beside what was measured. Empty where nothing was, or no pair was made.
std::string foretoldSentence(double foretold, const std::string& basis, const ExperimentJudged& judged);

struct WhyContext {
    EndedBy ended = EndedBy::Itself;
    std::string broke;              // why no more steps could be made: a sentence; empty = they could
    double secondsToGo = kUnknown;  // that would decide it if the pairs scatter as these do, or give an interval where there is none
    double leastSeconds = 0;        // what the least number of pairs would have taken; 0: unknown
    // Fewer of either say nothing (PairedRules).
    std::size_t leastPairs = PairedRules{}.leastPairs, leastRebuilds = PairedRules{}.leastRebuilds;
    double delta = 0.01;
    double others = kUnknown;  // processors that other programs had during the counted pairs, on average
    // Percent of the processors' time that a virtual machine's host gave to somebody else during each side's blocks that count.
    double stealOfA = kUnknown, stealOfB = kUnknown;
    // What both sides are called where they are no A and B: two values of a switch that take turns within a run.
    std::string ofA = "A", ofB = "B";
};
// While it is measured and nothing is decided: what is missing, and how long that may take beside what is left of its time (seconds).
std::string undecidedSentence(const ExperimentJudged& judged, double secondsLeft);
// Why a verdict is inconclusive or what must be known beside it: one to three sentences, empty where nothing must be said.
std::string whyJudged(const PairedVerdict& verdict, const WhyContext& context);

// What a side said beside itself: "within 0.70 %", or why that is not known; `same` comparisons of one side's blocks counted. Without a full stop.
std::string floorWords(double floor, std::size_t same);
// What to do with it, a sentence behind a space: the verdict's own test decides what is claimed, so that a claim may be smaller than the floor.
// Empty: there is none.
std::string floorAdvice(double floor, double ratio, const std::string& outcome);

}  // namespace stepscope
