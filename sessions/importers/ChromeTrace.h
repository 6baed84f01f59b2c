// The Chrome trace that PyTorch's profiler (Kineto) writes, plain or packed, of NVIDIA, AMD or no device at all, and what Stepscope exports: read
// event by event, with memory for the longest event and no more. Called by Import.cpp on the importing thread.
#pragma once
#include <functional>
#include <string>

#include "core/base/Result.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

// `go`: told the share of the file that was read, now and then; false ends the import as cancelled. What is wrong is one sentence with the byte.
Status readChromeTrace(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go);
// The same of bytes that are in memory, cut into pieces of `piece` bytes; for tests and fuzzers.
Status readChromeTraceBytes(std::string_view bytes, std::size_t piece, TraceBuilder& trace);

}  // namespace stepscope::importing
