// Roofline: what operations and kernels reach beside what their machine can do at most (Williams, Waterman and Patterson, "Roofline", CACM 2009):
// floating point operations a second over operations a byte, under a roof that rises with the bytes a second that memory gives and ends where the
// arithmetic does. What bounds each follows from that. Any thread.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/panes/RangePanes.h"

namespace stepscope {

// Of one device. 0: unknown.
struct Roof {
    double float32 = 0, bf16 = 0, fp16 = 0;  // FLOP/s
    double bytesPerSecond = 0;
    std::string source;   // how it is known: "measured on this machine"
    std::string whyNone;  // a sentence where nothing of it is known

    bool known() const { return bytesPerSecond > 0; }
    // type: as LibTorch names it. What is neither of the two halves computes as float32; where the type is not known, as the one format that was
    // measured.
    double flopsOf(const std::string& type) const;
};
const char* formatOf(const std::string& type);  // "float32", "bf16", "fp16"

enum class Bound { Unknown, Compute, Memory, Neither };
const char* toString(Bound bound);  // "", "compute", "memory", "neither"

struct Bounded {
    Bound by = Bound::Unknown;
    double share = -1;  // of the roof above it; < 0: unknown
};
// By what lies above it where it reaches at least half of that: left of the ridge memory, right of it the arithmetic. Neither: it reaches less than
// half, so that starting it, waiting or its own code bound it. Without FLOPs the roof is memory alone, without bytes the arithmetic. 0: unknown.
constexpr double kBoundShare = 0.5;
Bounded boundBy(double flops, double bytes, double seconds, const std::string& type, const Roof& roof);
Bounded boundBy(const PaneOperation& one, const Roof& roof);
Bounded boundBy(const PaneKernel& one, const Roof& roof);

struct RooflineDot {
    std::string name, role, phase, type;
    std::int32_t layer = -1;
    SliceKind kind = SliceKind::Operation;
    std::int64_t calls = 0, threads = 1;
    TimeNs time;                                                   // its own, of all of them
    double intensity = 0, flopsPerSecond = 0, bytesPerSecond = 0;  // FLOP a byte
    double share = 0;                                              // of the time of all, those without a dot included
    Bounded bounded;
    SlicePlace longest;
};
// Of those whose FLOPs and bytes are both known, by time.
std::vector<RooflineDot> operationDots(const RangePanes& panes, const Roof& roof);
std::vector<RooflineDot> kernelDots(const RangePanes& panes, const Roof& roof);

}  // namespace stepscope
