// A State's parameters and moments as optimizers take them: views, one tensor a parameter; what decays, then what does not. Made by Programs when
// they are bound to a State; trainer thread.
#pragma once
#include "core/state/Optimizer.h"

namespace stepscope {

// Without gradients.
std::vector<ParameterGroup> parameterGroups(const TrainState& state);

// The same groups with gradients, which come one a slot in the layout's order.
std::vector<ParameterGroup> withGradients(std::vector<ParameterGroup> groups, const ParameterLayout& layout,
                                          const std::vector<at::Tensor>& gradients);

}  // namespace stepscope
