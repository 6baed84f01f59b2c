// KinetoTrace: the captures of a session as the Chrome trace that PyTorch's profiler writes, which Perfetto, TensorBoard's plug-in, HTA and others
// open. Written as it is read, block by block. Called by the command line and the window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/OneRank.h"

namespace stepscope {

// Operations are cpu_op rows with an External id each, steps user_annotation rows named ProfilerStep#N, phases user_annotation rows; a flow leads
// from each forward operation to its backward function. Times are microseconds with three decimals since baseTimeNanoseconds, so nothing is rounded.
// Where nothing was captured, that is an error with a sentence. `progress` is asked while the links are read, before anything is written. rank: of
// that worker alone, as its own profiler would have written it.
Status exportKinetoTrace(const std::string& database, std::int64_t session, std::ostream& out, const std::string& name,
                         const ExportProgress& progress = {}, const OneRank& rank = {});
// Into a file, which is whole or stays what it was (ExportFile.h): .json, or packed as .json.gz. "-": to stdout, not packed. Empty: session-ID
// .pt.trace.json.gz in this folder. Returns the path that was written.
Result<std::string> exportKinetoTraceFile(const std::string& database, std::int64_t session, const std::string& path,
                                          const ExportProgress& progress = {}, const OneRank& rank = {});

}  // namespace stepscope
