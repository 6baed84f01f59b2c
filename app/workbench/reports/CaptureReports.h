// The report of what a session captured, read from the database. Torch-free but for the engine that knows what a preset comes to here; any thread but
// the one that draws.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "app/workbench/Workbench.h"
#include "core/report/Document.h"

namespace stepscope {

// Of all that the session captured. Errors: those of SessionReader, that it holds no capture, and Cancelled where `goesOn` says no.
Result<report::Document> capturedReport(
    const Workbench& workbench, const std::string& database, std::int64_t session, const std::function<bool()>& goesOn = [] { return true; });

}  // namespace stepscope
