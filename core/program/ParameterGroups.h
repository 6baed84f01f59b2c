// A State's parameters and moments as optimizers take them: views, one tensor a parameter; what decays, then what does not. Made by Programs when
// they are bound to a State; trainer thread.
#pragma once
#include "core/state/Optimizer.h"

namespace stepscope {

// Without gradients; without moments where the State holds a part of them.
std::vector<ParameterGroup> parameterGroups(const TrainState& state);

// Of a State that holds a part of the moments: what of each parameter and of its gradient falls into it, flat, with its moments. A group may be
// empty. gradients: one a slot in the layout's order.
std::vector<ParameterGroup> partGroups(const TrainState& state, const std::vector<at::Tensor>& gradients);

// The same groups with gradients, which come one a slot in the layout's order.
std::vector<ParameterGroup> withGradients(std::vector<ParameterGroup> groups, const ParameterLayout& layout,
                                          const std::vector<at::Tensor>& gradients);

}  // namespace stepscope
