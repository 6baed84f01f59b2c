// CSV: every number of a session, never downsampled: in long format, `run,step,time,metric,value`, one line a value, or wide, one line a step.
// Called by the command line and the window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"
#include "sessions/exporters/ExportFile.h"

namespace stepscope {

// run = the session's name (its number when it has none), time = seconds since the session began. Metrics are those of steps with
// their phase times (phase_forward_ms …), validation and device samples; unknown values have no line. RFC 4180 quoting, LF.
Status exportCsv(const std::string& database, std::int64_t session, std::ostream& out);
// One column a metric, named "run - metric" as Weights & Biases has them, and one row a step. What was measured of the machine more often than once a
// step has rows of its own with that step's number. "time" is when the step ended, "measured_at" when the machine was, in seconds since the session
// began; unknown values are empty. `progress` is asked while the columns are looked for, before anything is written.
Status exportCsvWide(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress = {});
// Into a file, which is whole or stays what it was (ExportFile.h).
Status exportCsvFile(const std::string& database, std::int64_t session, const std::string& path);

}  // namespace stepscope
