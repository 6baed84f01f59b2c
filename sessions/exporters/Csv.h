// CSV: every number of a session in long format, `run,step,time,metric,value`, one line a value, never downsampled.
// Called by the command line and the window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

// run = the session's name (its number when it has none), time = seconds since the session began. Metrics are those of steps with
// their phase times (phase_forward_ms …), validation and device samples; unknown values have no line. RFC 4180 quoting, LF.
Status exportCsv(const std::string& database, std::int64_t session, std::ostream& out);
// Into a file, which is whole or stays what it was (ExportFile.h).
Status exportCsvFile(const std::string& database, std::int64_t session, const std::string& path);

}  // namespace stepscope
