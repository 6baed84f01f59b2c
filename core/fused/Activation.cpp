// Bias + GELU and bias + SwiGLU after a linear, under autograd. See FusedOps.h.
#include "core/fused/FusedOps.h"
#include "core/fused/Rows.h"
#include "core/kernels/bias_gelu/BiasGeluCpu.h"
#include "core/kernels/swiglu/SwigluCpu.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Which kernel, and how many columns go in for one that comes out.
struct Gelu {
    static constexpr std::int64_t kParts = 1;
    template <class T>
    static const auto& kernel() {
        return biasGeluCpu<T>();
    }
};
struct Swiglu {
    static constexpr std::int64_t kParts = 2;
    template <class T>
    static const auto& kernel() {
        return swigluCpu<T>();
    }
};

template <class Activation>
class ActivationFunction : public torch::autograd::Function<ActivationFunction<Activation>> {
public:
    // in (..., parts * F) without its bias, bias (parts * F) float32 or undefined -> (..., F)
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& in, const std::optional<at::Tensor>& maybeBias) {
        const at::Tensor bias = maybeBias.value_or(at::Tensor());
        const at::Tensor from = in.contiguous();
        auto shape = in.sizes().vec();
        const std::int64_t columns = shape.back() /= Activation::kParts;
        const at::Tensor out = at::empty(shape, in.options());
        withElement(in.scalar_type(), [&](auto element) {
            using T = decltype(element);
            overRows(columns > 0 ? out.numel() / columns : 0, columns, [&](std::int64_t begin, std::int64_t end) {
                Activation::template kernel<T>().forward(columns, pointer<T>(from), pointer<float>(bias), pointer<T>(out), begin, end);
            });
        });
        ctx->save_for_backward({from, bias});
        return out;
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const auto saved = ctx->get_saved_variables();
        const at::Tensor &from = saved[0], &bias = saved[1];
        const at::Tensor gradOut = gradients[0].contiguous(), gradIn = at::empty_like(from);
        const std::int64_t columns = gradOut.size(-1), rows = columns > 0 ? gradOut.numel() / columns : 0;
        at::Tensor gradBias;
        withElement(from.scalar_type(), [&](auto element) {
            using T = decltype(element);
            gradBias = sumOverRows(rows, Activation::kParts * columns, [&](std::int64_t begin, std::int64_t end, float* sums) {
                Activation::template kernel<T>().backward(columns, pointer<T>(gradOut), pointer<T>(from), pointer<float>(bias), pointer<T>(gradIn),
                                                          bias.defined() ? sums : nullptr, begin, end);
            });
        });
        return {gradIn, bias.defined() ? gradBias : at::Tensor()};
    }
};

template <class Activation>
at::Tensor after(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return ActivationFunction<Activation>::apply(at::linear(x, weight), maybe(bias));
}

bool usable(const at::Tensor& x, const at::Tensor& bias) {
    return x.device().is_cpu() && taken(productType()) && taken(x) && (!bias.defined() || bias.scalar_type() == at::kFloat);
}

}  // namespace

at::Tensor linearGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return usable(x, bias) ? after<Gelu>(x, weight, bias) : plain::linearGelu(x, weight, bias);
}

at::Tensor linearSwiglu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return usable(x, bias) ? after<Swiglu>(x, weight, bias) : plain::linearSwiglu(x, weight, bias);
}

}  // namespace stepscope::fused
