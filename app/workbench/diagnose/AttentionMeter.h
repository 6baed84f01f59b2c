// Which attention is faster at a shape: written out, or the library's? One layer, forward and backward, each alone. Torch-free header.
#pragma once
#include <atomic>

#include "core/base/Result.h"
#include "core/events/Experiment.h"
#include "core/events/RunPlan.h"

namespace stepscope {

struct AttentionTimes {
    double manualMs = kUnknown, sdpaMs = kUnknown;  // medians of a few; unknown where it was not measured
};

// room: bytes that may be taken; where written-out attention needs more it is not measured. Errors: what LibTorch throws.
Result<AttentionTimes> measureAttention(const RunPlan& plan, Bytes room, const std::atomic<bool>& cancelled);

}  // namespace stepscope
