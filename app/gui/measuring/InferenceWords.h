// What the page Inference shows of an answer: rows that are there before anything is known, figures and verdicts in words. Pure functions; GUI
// thread.
#pragma once
#include "app/workbench/inference/MeasureForms.h"
#include "widgets/panels/inference/InferenceTypes.h"

namespace stepscope {

// Before anything was asked.
InferenceView emptyInference();
// Of what is known; the rows of what is not stay.
void showForms(const FormsAnswer& answer, InferenceView& view);
FormsRequest formsRequest(const InferenceQuestion& question, const std::string& from);

}  // namespace stepscope
