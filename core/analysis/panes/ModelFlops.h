// ModelFlops: what the matrix products and attention of a range computed a second, of what its device can do at most: on a CPU by its operations, on
// a GPU by its kernels, each with the part of the operation that launched it. Each that ran counts, those of recomputation and of validation too:
// with those it is more than MFU in the strict sense (PaLM, appendix B: forward and backward of trained tokens, each once). Pure function, any
// thread.
#pragma once
#include <optional>
#include <string>

#include "core/analysis/panes/RangePanes.h"
#include "core/analysis/panes/Roofline.h"

namespace stepscope {

struct ModelFlops {
    double perSecond = 0;  // of the time of the steps
    double peak = 0;       // FLOP/s of the format that most of it ran in; 0: not measured
    std::string source;    // how the peak is known; where it is not, why

    double share() const { return peak > 0 ? perSecond / peak : 0; }
};

// Nothing where there is no such number: nothing recorded what it computes, no whole step is there, or several workers or GPUs are.
std::optional<ModelFlops> modelFlops(const RangePanes& panes, const Roof& roof);

}  // namespace stepscope
