// Runs that were stored apart, beside each other: what each was like, which keys differ, what the loss was after as many tokens and after as much
// time, and how far two of them can be compared at all: they were not interleaved, so what the machine did meanwhile is in every difference. Pure
// functions, any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/Statistics.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

struct Event;
struct SwitchApplied;

// By switch that was flipped: the values it had, one after the other; of many the first, "…" and the last.
using FlippedValues = std::map<std::string, std::vector<std::string>>;
void addFlip(FlippedValues& flipped, const SwitchApplied& flip);

// Steps of a run that do not tell its speed, from the first; and those at the end whose mean is "the loss".
constexpr std::size_t kWarmUpSteps = 3, kLossSteps = 20;

struct StoredRun {
    std::int64_t session = 0;
    std::shared_ptr<const SessionInfo> info;          // null: not known
    std::vector<double> ms, seconds, tokens, losses;  // by step: its time, its end since the beginning, tokens trained so far, loss (may be unknown)
    // Of steps that tell its speed: not the first 3, none that something else disturbed, and none of which a log says no time.
    std::vector<double> steadyMs, steadyMsPerToken;
    std::vector<double> othersPct, stealPct, throttledPct, gpuClockMhz, cpuClockMhz;
    double peakBytes = kUnknown, validationLoss = kUnknown;
    std::int64_t flips = 0;
    FlippedValues flipped{};
};

// The events of one session one after the other, in order; the first is SessionStarted.
void addEvent(StoredRun& run, const Event& event);
StoredRun storedRun(const std::vector<Event>& events);

struct DifferingKeys {
    std::string key;
    std::vector<std::string> values;  // one a run, in their order; empty where a run has no such key
};
// Not of what another program logged.
bool hasSettings(const StoredRun& run);
// Of runs that have settings. Without the preset's name; keys in their fixed order. One that was flipped in the middle has all its values: "off →
// bf16".
std::vector<DifferingKeys> differingKeys(const std::vector<StoredRun>& runs);

// Whether it tells how many tokens it trained: what another program logged may not.
bool knowsTokens(const StoredRun& run);
// The same of how long any of its steps took: no step takes no time.
bool knowsTimes(const StoredRun& run);
// Mean of the last 20 known losses among the steps up to there; unknown where there are none, or the place is not known.
double lossAtTokens(const StoredRun& run, double tokens);
double lossAtSeconds(const StoredRun& run, double seconds);

// 100: as good as it gets for runs that were not interleaved, which is 75 at most; 0: a comparison says nothing.
struct Comparability {
    int score = 0;
    std::vector<std::string> reasons;  // sentences, the heaviest first; never empty
};
Comparability comparabilityOf(const StoredRun& a, const StoredRun& b);
// As sentences, for the command line and the window alike.
std::string sentenceOf(const Comparability& comparability);  // "Comparability: 50 of 100: not interleaved: ...; ..."
// Of two sessions, by the median time a token; empty where one of them has none.
std::string ratioSentence(const StoredRun& a, const StoredRun& b);

// Data and model of a configuration, as one word: two runs with the same trained the same model on the same data.
std::string workOf(const RunConfig& config);

}  // namespace stepscope
