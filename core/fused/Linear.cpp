#include "core/fused/Linear.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/fused/FloatProduct.h"
#include "core/fused/FusedOps.h"
#include "core/fused/KeptPlace.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LinearFunction : public torch::autograd::Function<LinearFunction> {
public:
    // x, low and lowBias of one 16-bit type. weight and bias, float32, only for their gradients.
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& low,
                              const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& lowBias) {
        keepPlace(ctx);
        const at::Tensor rows = x.reshape({-1, x.size(-1)});
        ctx->save_for_backward({rows, low});
        ctx->saved_data["bias"] = bias.has_value();
        ctx->saved_data["weight"] = weight.requires_grad();
        auto size = x.sizes().vec();
        size.back() = low.size(0);
        return (lowBias ? at::addmm(*lowBias, rows, low.t()) : at::mm(rows, low.t())).view(size);
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const PlaceScope place = keptPlace(ctx, Role::None);
        const auto saved = ctx->get_saved_variables();
        const at::Tensor &rows = saved[0], &low = saved[1];
        auto size = gradients[0].sizes().vec();
        const at::Tensor gradOut = gradients[0].reshape({-1, size.back()}).contiguous();
        size.back() = rows.size(1);
        at::Tensor gradWeight, gradBias;
        if (ctx->saved_data["weight"].toBool()) {
            gradWeight = at::empty(low.sizes(), low.options().dtype(at::kFloat));
            floatProduct(gradWeight, gradOut.t(), rows);
        }
        if (ctx->saved_data["bias"].toBool()) gradBias = columnSums("bias gradient", gradOut);
        return {at::mm(gradOut, low).view(size), gradWeight, at::Tensor(), gradBias, at::Tensor()};
    }
};

}  // namespace

at::Tensor product(const at::Tensor& x, const Weight& weight, const Weight& bias, BiasGradient whose) {
    const at::ScalarType type = productType(x);
    const bool own = whose == BiasGradient::Here;
    if (!takesCudaForm(x) || type == at::kFloat || !taken(type, x.device()) || weight.full.scalar_type() != at::kFloat)
        return at::linear(x, weight.forProduct(),
                          own                  ? bias.forProduct()
                          : bias.low.defined() ? bias.low
                          : bias.defined()     ? bias.full.detach()
                                               : at::Tensor());
    const auto lowered = [&](const Weight& w) { return w.low.defined() ? w.low : w.full.detach().to(type); };
    return LinearFunction::apply(x.to(type), weight.full, lowered(weight), own && bias.defined() ? std::optional(bias.full) : std::nullopt,
                                 bias.defined() ? std::optional(lowered(bias)) : std::nullopt);
}

at::Tensor linear(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return product(x, weight, bias, BiasGradient::Here);
}

}  // namespace stepscope::fused
