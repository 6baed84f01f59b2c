// PerfettoTrace: the captures of a session as Perfetto's own format (TracePacket messages with TrackEvents), which ui.perfetto.dev opens and
// Perfetto's trace processor queries. Written as it is read. Called by the command line and the window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/OneRank.h"

namespace stepscope {

// A track a thread or stream, under its process or device; what overlaps without lying within another gets a track of its own beside it. Times are
// the session's nanoseconds, moved by what it takes for none to be negative. Flows lead from launches to kernels and from forward operations to their
// backward functions; counters and memory are counter tracks. Where nothing was captured, that is an error with a sentence. `progress`
// is asked while the links are read, before anything is written. rank: of that worker alone.
Status exportPerfettoTrace(const std::string& database, std::int64_t session, std::ostream& out, const ExportProgress& progress = {},
                           const OneRank& rank = {});

}  // namespace stepscope
