// What was found of some settings, as lines for the page Diagnose. Pure functions.
#pragma once
#include "app/workbench/diagnose/Diagnose.h"
#include "app/workbench/diagnose/FindBatch.h"
#include "widgets/panels/diagnose/DiagnoseTypes.h"

namespace stepscope {

std::vector<DiagnoseFact> factsOf(const Diagnosis& found);
void showBatches(const BatchSearch& found, DiagnoseView& view);

}  // namespace stepscope
