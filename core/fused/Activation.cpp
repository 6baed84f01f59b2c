// Bias + GELU and bias + SwiGLU after a linear, under autograd.
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/fused/FusedOps.h"
#include "core/fused/KeptPlace.h"
#include "core/fused/Linear.h"
#include "core/fused/Rows.h"
#include "core/kernels/bias_gelu/BiasGeluCpu.h"
#include "core/kernels/swiglu/SwigluCpu.h"

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
    static constexpr auto kCudaForward = &CudaInterface::biasGeluForward;
    static constexpr auto kCudaBackward = &CudaInterface::biasGeluBackward;
};
struct Swiglu {
    static constexpr std::int64_t kParts = 2;
    template <class T>
    static const auto& kernel() {
        return swigluCpu<T>();
    }
    static constexpr auto kCudaForward = &CudaInterface::swigluForward;
    static constexpr auto kCudaBackward = &CudaInterface::swigluBackward;
};

template <class Activation>
class ActivationFunction : public torch::autograd::Function<ActivationFunction<Activation>> {
public:
    // in (..., parts * F) without its bias, bias (parts * F) float32 or undefined -> (..., F)
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& in, const std::optional<at::Tensor>& maybeBias) {
        keepPlace(ctx);
        const at::Tensor bias = maybeBias.value_or(at::Tensor());
        const at::Tensor from = in.contiguous();
        auto shape = in.sizes().vec();
        const std::int64_t columns = shape.back() /= Activation::kParts;
        const at::Tensor out = at::empty(shape, in.options());
        const std::int64_t rows = columns > 0 ? out.numel() / columns : 0;
        const auto cpu = [&] {
            withElement(in.scalar_type(), [&](auto element) {
                using T = decltype(element);
                overRows("bias + activation", rows, columns, moved({from, bias, out}), [&](std::int64_t begin, std::int64_t end) {
                    Activation::template kernel<T>().forward(columns, pointer<T>(from), pointer<float>(bias), pointer<T>(out), begin, end);
                });
            });
        };
        onDevice("bias + activation", from, moved({from, bias, out}), cpu, [&](const CudaInterface& cuda) {
            return (cuda.*Activation::kCudaForward)(rowsOf(from, rows, columns), data(from), floats(bias), data(out));
        });
        ctx->save_for_backward({from, bias});
        return out;
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const PlaceScope place = keptPlace(ctx, Role::MlpUp);
        const auto saved = ctx->get_saved_variables();
        const at::Tensor &from = saved[0], &bias = saved[1];
        const at::Tensor gradOut = gradients[0].contiguous(), gradIn = at::empty_like(from);
        const std::int64_t columns = gradOut.size(-1), rows = columns > 0 ? gradOut.numel() / columns : 0;
        at::Tensor gradBias;
        const auto cpu = [&] {
            withElement(from.scalar_type(), [&](auto element) {
                using T = decltype(element);
                gradBias =
                    sumOverRows("bias + activation backward", rows, Activation::kParts * columns, moved({gradOut, from, bias, gradIn}),
                                [&](std::int64_t begin, std::int64_t end, float* sums) {
                                    Activation::template kernel<T>().backward(columns, pointer<T>(gradOut), pointer<T>(from), pointer<float>(bias),
                                                                              pointer<T>(gradIn), bias.defined() ? sums : nullptr, begin, end);
                                });
            });
        };
        onDevice("bias + activation backward", from, moved({gradOut, from, bias, gradIn}), cpu, [&](const CudaInterface& cuda) {
            if (bias.defined()) gradBias = at::empty_like(bias);
            const at::Tensor partial = workspace(cuda.columnSumsWorkspaceBytes(rows, Activation::kParts * columns), from);
            return (cuda.*Activation::kCudaBackward)(rowsOf(from, rows, columns), data(gradOut), data(from), floats(bias), data(gradIn),
                                                     floats(gradBias), data(partial));
        });
        return {gradIn, bias.defined() ? gradBias : at::Tensor()};
    }
};

template <class Activation>
at::Tensor after(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return ActivationFunction<Activation>::apply(product(x, weight, {}, BiasGradient::Elsewhere), maybe(bias.full));
}

bool usable(const at::Tensor& x, const Weight& bias) {
    return taken(x) && taken(productType(x), x.device()) && (!bias.defined() || bias.full.scalar_type() == at::kFloat);
}

}  // namespace

at::Tensor linearGelu(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return usable(x, bias) ? after<Gelu>(x, weight, bias) : plain::linearGelu(x, weight, bias);
}

at::Tensor linearSwiglu(const at::Tensor& x, const Weight& weight, const Weight& bias) {
    return usable(x, bias) ? after<Swiglu>(x, weight, bias) : plain::linearSwiglu(x, weight, bias);
}

}  // namespace stepscope::fused
