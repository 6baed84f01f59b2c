// What an experiment says, as sentences: its verdict, and why it has none. Used by the window, the command line, logs and reports. Pure functions.
#pragma once
#include <string>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Experiment.h"

namespace stepscope {

// "faster by 12.3 %" and "[11.0 %, 13.6 %]"; where nothing is claimed there is no interval.
struct JudgedParts {
    std::string verdict, interval;
};
JudgedParts judgedParts(const ExperimentJudged& judged, double delta);
// Both: "faster by 12.3 % [11.0 %, 13.6 %]", "3.31 times as fast [3.27, 3.36]", "no difference of more than 1 %", "inconclusive": of B beside A.
std::string judgedWords(const ExperimentJudged& judged, double delta);

// The same measurement, of A beside B.
ExperimentJudged turnedRound(ExperimentJudged judged);

// A whole sentence: the words above, on how many pairs, and why where it is inconclusive.
std::string judgedSentence(const ExperimentJudged& judged, double delta = 0.01);

// What both sides learnt in equally long training, and whether what is faster per token shows there; empty where it was not asked.
std::string equalTimeSentence(const ExperimentJudged& judged);

// The verdict's ratio is the mean of the pairs, each of which counts alike; a table of both sides shows what all steps took together, in which the
// machine's slow stretches weigh more. Where the two are not alike, a sentence that says so; else empty. speedRatio: B's tokens a second over A's.
std::string meansSentence(const ExperimentJudged& judged, double speedRatio, double delta);

struct WhyContext {
    bool stopped = false;           // by a person, or because a side broke
    std::string broke;              // why no more steps could be made: a sentence; empty = they could
    double secondsToGo = kUnknown;  // that would decide it if the pairs scatter as these do, or give an interval where there is none
    double leastSeconds = 0;        // what the least number of pairs would have taken; 0: unknown
    double delta = 0.01;
    double others = kUnknown;  // processors that other programs had during the counted pairs, on average
};
// Why a verdict is inconclusive or what must be known beside it: one to three sentences, empty where nothing must be said.
std::string whyJudged(const PairedVerdict& verdict, const WhyContext& context);

// What a side said beside itself: "within 0.70 %", or why that is not known; `same` comparisons of one side's blocks counted. Without a full stop.
std::string floorWords(double floor, std::size_t same);
// What to do with it, a sentence behind a space: the verdict's own test decides what is claimed, so that a claim may be smaller than the floor.
// Empty: there is none.
std::string floorAdvice(double floor, double ratio, const std::string& outcome);

}  // namespace stepscope
