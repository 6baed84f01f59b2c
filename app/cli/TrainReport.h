// What `train` prints at its end: a sentence for a person, or the one line of JSON that scripts read.
#pragma once
#include <string>

#include "app/workbench/Workbench.h"

namespace stepscope::cli {

std::string summaryText(const RunSummary& summary);
std::string summaryLine(const RunSummary& summary);

}  // namespace stepscope::cli
