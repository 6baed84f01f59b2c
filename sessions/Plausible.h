// What was stored of an experiment or a study must be possible before it is shown as an answer: a file may have been written by somebody else.
// Used wherever such rows are read; any thread.
#pragma once
#include "core/events/Experiment.h"
#include "core/events/Study.h"

namespace stepscope {

// Each throws std::out_of_range that names the field: a known outcome, ratios above 0, an interval that does not run backwards and that bears the
// outcome out, counts and times that are not negative, and of what was asked shares between 0 and 1.
void checkPlausible(const ExperimentBegan& began);
void checkPlausible(const StudyBegan& began);
void checkPlausible(const BlockDone& block);
void checkPlausible(const ExperimentJudged& judged);
void checkPlausible(const StudyRow& row);

}  // namespace stepscope
