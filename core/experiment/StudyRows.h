// What an experiment says, into the row that a study's table has for it. Called by whoever fills one: LadderCourse, and the search's proof
// (app/workbench/experiments/LiveTune); any thread.
#pragma once
#include "core/analysis/ExperimentHistory.h"
#include "core/events/Experiment.h"
#include "core/events/Study.h"

namespace stepscope {

void fillJudged(StudyRow& row, const ExperimentJudged& judged);  // what the pairs say
void fillSide(StudyRow& row, const SideFacts& facts);            // of the side that the row is about

}  // namespace stepscope
