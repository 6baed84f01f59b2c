// What the page Inference shows of an answer: rows that are there before anything is known, figures and verdicts in words. Pure functions; GUI
// thread.
#pragma once
#include "app/workbench/inference/MeasureForms.h"
#include "app/workbench/text/PruneCheckpoint.h"
#include "widgets/panels/inference/InferenceTypes.h"

namespace stepscope {

// Before anything was asked.
InferenceView emptyInference();
// Whether anything in its tables is known.
bool hasFigures(const InferenceView& view);
// Of what is known; the rows of what is not stay.
void showForms(const FormsAnswer& answer, InferenceView& view);
FormsRequest formsRequest(const InferenceQuestion& question, const std::string& from);
PruneRequest pruneRequest(const PruneWish& wish, const std::string& from);
// What was written, and what it costs.
QString prunedWords(const PruneAnswer& answer, const PruneWish& wish);

}  // namespace stepscope
