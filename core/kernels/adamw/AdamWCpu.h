// Global norm, clipping and AdamW (Loshchilov and Hutter, ICLR 2019) on the CPU over a range of flat float32 buffers, in one pass each.
// Called by core/fused and by the whole-step program; any thread.
#pragma once
#include "core/kernels/adamw/AdamWStep.h"
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct AdamWTable {
    // Sum of g[i]^2 for [begin, end): float32 within 1024 elements, double above, so that a billion elements lose nothing.
    double (*sumOfSquares)(const float* g, std::int64_t begin, std::int64_t end);
    // One update of [begin, end) in place: weights, both moments; `low`, when not null, gets the new weights rounded to Bf16.
    void (*update)(AdamWStep step, const float* g, float* weights, float* first, float* second, Bf16* low, std::int64_t begin, std::int64_t end);
};
STEPSCOPE_ISA_TABLE(AdamWTable, adamWTable)
inline const AdamWTable& adamWCpu() {
    return STEPSCOPE_PICK_ISA(adamWTable);
}

}  // namespace stepscope
