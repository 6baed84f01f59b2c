// How the Engine starts what measures: experiments and ladders, over one registry that whatever was started keeps alive.
#pragma once
#include <memory>

#include "app/workbench/experiments/StudyRequests.h"
#include "core/optimizations/registry/Registry.h"

namespace stepscope {

// Rows of the embedding when the data have not been read yet: what the tokenizer has, for characters the most that is usual, for ready tokens
// GPT-2's.
std::int64_t likelyVocabulary(const RunConfig& config);
// 0 for ready tokens and characters: how many ids there are is known when the data have been read.
std::int64_t knownVocabulary(const RunConfig& config);

// As in Workbench.
std::string whyNothingDiffersOn(const Registry& registry, const RunConfig& a, const RunConfig& b);
Result<std::unique_ptr<Run>> startExperimentOn(const std::shared_ptr<const Registry>& registry, ExperimentRequest request, EventSink& sink);
Result<std::unique_ptr<Run>> startLadderOn(const std::shared_ptr<const Registry>& registry, LadderRequest request, EventSink& sink);
Result<std::unique_ptr<Run>> startTuneOn(const std::shared_ptr<const Registry>& registry, TuneRequest request, EventSink& sink);
Result<LadderForecast> forecastOn(const std::shared_ptr<const Registry>& registry, LadderRequest request);

}  // namespace stepscope
