// CaptureGaps: where between captures a curve that is recorded by captures alone says nothing, so that it is broken there: memory (MemoryPane),
// counters of a trace (TimelineView). Pure functions; any thread.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace stepscope {

using CaptureSpans = std::vector<std::pair<std::int64_t, std::int64_t>>;  // ns, half-open

// By time, without overlaps. times: of the points of the curve, in order; none lies within a gap. One between two captures is of the capture that it
// lies nearer to: what is measured, or given back, behind the last slice of a capture is of that one.
CaptureSpans gapsBetween(CaptureSpans captures, const std::vector<std::int64_t>& times);

}  // namespace stepscope
