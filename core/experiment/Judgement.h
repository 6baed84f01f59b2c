// Judgement: what a course says so far, as the event that is published and stored. Any thread.
#pragma once
#include <string>

#include "core/analysis/JudgedSentence.h"
#include "core/events/Experiment.h"
#include "core/experiment/Course.h"

namespace stepscope {

// Of the newest pair and of all pairs; `over` when the course has no more orders. at and step are the caller's. broke: why no more steps could be
// made, a sentence that is said before all else.
ExperimentJudged judgementOf(const Course& course, bool over, const std::string& broke = {}, const ArmNames& names = {});

// The part of it that the pairs alone say.
void tellVerdict(const PairedVerdict& verdict, ExperimentJudged& judged);

}  // namespace stepscope
