// What two configurations ask of each other: whether they can be compared at all, and what a reader of the answer must know.
// Torch-free; any thread.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Experiment.h"
#include "core/events/Machine.h"
#include "core/events/RunConfig.h"

namespace stepscope {

// Whether what is learnt differs by it: of the schedule, or the seed.
bool isOfLearning(const std::string& key);

// A sentence where they cannot be compared: equal ones (unless `same` asks for that), other data. Empty = they can.
std::string whyNotComparable(const RunConfig& a, const RunConfig& b, bool same);

// Sentences on what differs beside speed, and what is therefore compared; empty where the two differ in how they compute alone. lossAtEqualTime: that
// is compared, too.
std::string comparisonNotes(const RunConfig& a, const RunConfig& b, bool lossAtEqualTime = false);

// "amp=off beside amp=bf16".
std::string questionWords(const RunConfig& a, const RunConfig& b, bool same);
// The settings that make a question another one, as a part of its key.
std::string questionSettings(const RunConfig& config);
// The same text for the same question on the same machine, whatever the budget and the coins. from, init: what both begin from, by its path; where
// both are empty, what the setting init says.
std::string questionKey(const RunConfig& a, const RunConfig& b, bool same, const Machine& machine, const std::string& from = {},
                        const std::string& init = {});
// The key of the same question with A and B in each other's place, of one that was asked on `machine`. Empty where that is no other question, or
// where what is known of it does not give its own key: another version asked it.
std::string turnedQuestion(const ExperimentBegan& began, const Machine& machine);

// Settings of both sides. What was stored is a stranger's: what does not parse is as nothing is set.
std::pair<RunConfig, RunConfig> sidesOf(const ExperimentBegan& began);

}  // namespace stepscope
