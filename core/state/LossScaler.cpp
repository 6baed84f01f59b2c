#include "core/state/LossScaler.h"

#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace stepscope {

bool unscale(const std::vector<at::Tensor>& gradients, double scale) {
    if (gradients.empty()) return true;
    const auto options = at::TensorOptions().dtype(at::kFloat).device(gradients.front().device());
    at::Tensor overflowed = at::zeros({1}, options);
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflowed, at::full({1}, 1 / scale, options));
    return overflowed.item<float>() == 0;
}

void moveScale(LossScale& state, bool clean, std::int64_t growthInterval) {
    if (!clean) {
        state = {state.scale / 2, 0};
    } else if (++state.cleanSteps >= growthInterval) {
        state = {state.scale * 2, 0};
    }
}

}  // namespace stepscope
