// Captured steps as a table for a person and as JSON: what `train` prints at its end and `sessions captures` prints of what is stored.
#pragma once
#include <string>

#include "app/cli/output/Json.h"
#include "core/analysis/captures/LevelCosts.h"
#include "core/events/CaptureDone.h"

namespace stepscope::cli {

Json toJson(const CaptureDone& capture);
// What each level of observing costs: nulls where it was not measured.
Json levelsJson(const LevelCosts& levels);
std::string captureTable(const CaptureDone& capture, std::size_t mostRows);

}  // namespace stepscope::cli
