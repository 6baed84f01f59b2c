// Traces in Perfetto's own format, as Stepscope writes them (sessions/exporters/PerfettoTrace.h): read packet by packet, with memory for the longest
// packet, what is interned and what is open, and no more. What other recorders put in such a file (clocks, scheduling, samples of the system) is
// counted and left out. Called by Import.cpp on the importing thread; a file is a stranger's.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

// Whether a file begins with a packet of Perfetto's.
bool looksLikePerfetto(std::string_view head);

// `go` as of readChromeTrace. What is wrong is one sentence with the byte.
Status readPerfettoFile(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go);
// The same of bytes that are in memory, cut into pieces of `piece` bytes; for tests and fuzzers.
Status readPerfettoBytes(std::string_view bytes, std::size_t piece, TraceBuilder& trace);

}  // namespace stepscope::importing
