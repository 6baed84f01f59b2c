#include "core/model/Weight.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

namespace stepscope {
namespace {

class InLowPrecision : public torch::autograd::Function<InLowPrecision> {
public:
    static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor&, const at::Tensor& copy) {
        // An output of its own, not a view that autograd has to follow.
        const at::AutoDispatchBelowADInplaceOrView plainView;
        return copy.view(copy.sizes());
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list gradients) {
        return {gradients[0].defined() ? gradients[0].to(at::kFloat) : at::Tensor(), at::Tensor()};
    }
};

}  // namespace

at::Tensor Weight::forProduct() const {
    return low.defined() ? InLowPrecision::apply(full, low) : full;
}

}  // namespace stepscope
