// Logs of numbers as CSV: what Stepscope exports (long and wide), and the tables of other trackers that have a column of steps. Losses become steps
// and validations of the session, every number a sample, as of the other logs (ScalarLogs.h). Called by Import.cpp on the importing thread; a file is
// a stranger's.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"
#include "sessions/importers/ScalarLogs.h"

namespace stepscope::importing {

// By its name, or by a first line that has a column of steps and another one.
bool looksLikeCsv(const std::string& path, std::string_view head);

// `go` as of readChromeTrace. What is wrong is one sentence with the line and the byte. `notes`: sentences about what was assumed.
Status readCsvLog(const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::vector<std::string>& notes,
                  const std::function<bool(double)>& go);
// The same of bytes in memory, for tests and fuzzers; they come in pieces of so many.
Status readCsvText(std::string_view text, const std::string& path, TraceBuilder& trace, ScalarSteps& steps, std::vector<std::string>& notes,
                   std::size_t atOnce = std::string_view::npos);

}  // namespace stepscope::importing
