// What Nsight Systems exports with --type sqlite, of old and new versions: tables and columns are looked for, not assumed. Called by Import.cpp on
// the importing thread; the database is a stranger's and is never written to.
#pragma once
#include <functional>
#include <string>

#include "core/base/Result.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

// `go` as of readChromeTrace.
Status readNsightDatabase(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go);

}  // namespace stepscope::importing
