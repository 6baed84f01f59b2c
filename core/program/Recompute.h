// Activation checkpointing (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016): a part of the forward pass keeps its
// inputs only and is run again in backward. Called inside forward passes on the trainer thread. Gradients are the same bit for bit
// where the part is deterministic: dropout is counter-based, and autocast's state is restored for the second run.
#pragma once
#include <functional>
#include <vector>

#include "core/events/RunPlan.h"
#include "core/model/ModelOps.h"

namespace stepscope {

using RecomputedPart = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;

// part(inputs), without keeping what backward needs. Parameters that `part` captures receive their gradients when backward reaches it.
// At least one input must require a gradient; without grad mode it is a plain call.
at::Tensor recompute(RecomputedPart part, std::vector<at::Tensor> inputs);

// Has `ops` run again what the plan names.
void recomputeParts(const RecomputePlan& plan, ModelOps& ops);

}  // namespace stepscope
