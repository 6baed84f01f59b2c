// What was found of some settings, as lines for the page Diagnose. Pure functions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/diagnose/Diagnose.h"
#include "app/workbench/diagnose/FindBatch.h"
#include "widgets/panels/diagnose/DiagnoseTypes.h"

namespace stepscope {

std::vector<DiagnoseFact> factsOf(const Diagnosis& found);
// What was predicted on this machine beside what was measured of it afterwards; nothing where nothing was.
std::optional<DiagnoseFact> foretoldFact(const std::vector<std::string>& lines);
void showBatches(const BatchSearch& found, DiagnoseView& view);

}  // namespace stepscope
