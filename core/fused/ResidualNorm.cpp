// Residual addition and norm under autograd.
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <type_traits>

#include "core/fused/FusedOps.h"
#include "core/fused/KeptPlace.h"
#include "core/fused/Rows.h"
#include "core/kernels/residual_norm/ResidualNormCpu.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ResidualNormFunction : public torch::autograd::Function<ResidualNormFunction> {
public:
    // -> {sum, normed}, or {normed} without delta: an output must not be an input.
    static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const std::optional<at::Tensor>& maybeDelta, const at::Tensor& weight,
                                 const std::optional<at::Tensor>& maybeBias, bool rms, at::ScalarType outType) {
        keepPlace(ctx);
        const at::Tensor delta = maybeDelta.value_or(at::Tensor()), bias = maybeBias.value_or(at::Tensor());
        ctx->set_materialize_grads(false);
        const std::int64_t C = x.size(-1), rows = C > 0 ? x.numel() / C : 0;
        const at::Tensor from = x.contiguous();
        const at::Tensor sum = delta.defined() ? at::empty_like(from) : from;
        const at::Tensor normed = at::empty(x.sizes(), x.options().dtype(outType)), mean = at::empty({rows}, x.options()),
                         rstd = at::empty({rows}, x.options());
        const auto arguments = [&]<class T>(std::type_identity<T>) {
            return NormForward<T>{.epsilon = static_cast<float>(kNormEpsilon),
                                  .rms = rms,
                                  .x = floats(from),
                                  .delta = pointer<T>(delta),
                                  .weight = floats(weight),
                                  .bias = floats(bias),
                                  .sum = floats(sum),
                                  .normed = pointer<T>(normed),
                                  .mean = floats(mean),
                                  .rstd = floats(rstd)};
        };
        // Without a delta the sum is what came.
        const OperationWork work = moved({from, delta, weight, bias, delta.defined() ? sum : at::Tensor(), normed, mean, rstd});
        const auto cpu = [&] {
            withElement(outType, [&](auto element) {
                const auto norm = arguments(std::type_identity<decltype(element)>{});
                overRows("residual + norm", rows, C, work, [&](std::int64_t begin, std::int64_t end) {
                    residualNormCpu<decltype(element)>().forward({.columns = C}, norm, begin, end);
                });
            });
        };
        onDevice("residual + norm", from, work, cpu, [&](const CudaInterface& cuda) {
            return cuda.residualNormForward(rowsOf(from, outType, rows, C), arguments(std::type_identity<void>{}));
        });
        ctx->save_for_backward({sum, mean, rstd, weight});
        ctx->saved_data["rms"] = rms;
        ctx->saved_data["delta"] = delta.defined();
        ctx->saved_data["bias"] = bias.defined();
        ctx->saved_data["out"] = static_cast<std::int64_t>(outType);
        return delta.defined() ? variable_list{sum, normed} : variable_list{normed};
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const PlaceScope place = keptPlace(ctx, Role::None);
        const auto saved = ctx->get_saved_variables();
        const at::Tensor &sum = saved[0], &mean = saved[1], &rstd = saved[2], &weight = saved[3];
        const bool rms = ctx->saved_data["rms"].toBool(), hasBias = ctx->saved_data["bias"].toBool(), hasDelta = ctx->saved_data["delta"].toBool();
        const auto outType = static_cast<at::ScalarType>(ctx->saved_data["out"].toInt());
        const at::Tensor along = hasDelta && gradients[0].defined() ? gradients[0].contiguous() : at::Tensor();
        const at::Tensor down = gradients[hasDelta ? 1 : 0].defined() ? gradients[hasDelta ? 1 : 0].contiguous() : at::Tensor();
        if (!down.defined()) return {along, along.defined() ? along.to(outType) : along, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
        const std::int64_t C = sum.size(-1), rows = C > 0 ? sum.numel() / C : 0;
        const at::Tensor gradSum = at::empty_like(sum);
        const bool lowDelta = hasDelta && outType != at::kFloat;
        const at::Tensor gradLow = lowDelta ? at::empty(sum.sizes(), sum.options().dtype(outType)) : at::Tensor();
        at::Tensor sums;  // (2C): of the weight, then of the bias
        const auto arguments = [&]<class T>(std::type_identity<T>, float* both) {
            return NormBackward<T>{.rms = rms,
                                   .gradNormed = pointer<T>(down),
                                   .sum = floats(sum),
                                   .mean = floats(mean),
                                   .rstd = floats(rstd),
                                   .weight = floats(weight),
                                   .gradResidual = floats(along),
                                   .gradSum = floats(gradSum),
                                   .gradDelta = pointer<T>(gradLow),
                                   .gradWeight = both,
                                   .gradBias = hasBias ? both + C : nullptr};
        };
        const OperationWork work = moved({down, sum, mean, rstd, weight, along, gradSum, gradLow});
        const auto cpu = [&] {
            withElement(outType, [&](auto element) {
                sums = sumOverRows("residual + norm backward", rows, 2 * C, work, [&](std::int64_t begin, std::int64_t end, float* both) {
                    residualNormCpu<decltype(element)>().backward({.columns = C}, arguments(std::type_identity<decltype(element)>{}, both), begin,
                                                                  end);
                });
            });
        };
        onDevice("residual + norm backward", sum, work, cpu, [&](const CudaInterface& cuda) {
            sums = at::empty({2 * C}, sum.options());
            const at::Tensor partial = workspace(cuda.residualNormWorkspaceBytes(rows, C), sum);
            return cuda.residualNormBackward(rowsOf(sum, outType, rows, C), arguments(std::type_identity<void>{}, floats(sums)), data(partial));
        });
        return {gradSum,
                lowDelta   ? gradLow
                : hasDelta ? gradSum
                           : at::Tensor(),
                sums.narrow(0, 0, C),
                hasBias ? sums.narrow(0, C, C) : at::Tensor(),
                at::Tensor(),
                at::Tensor()};
    }
};

}  // namespace

NormedSum residualNorm(const at::Tensor& x, const at::Tensor& delta, NormSettings settings, const at::Tensor& weight, const at::Tensor& bias) {
    const at::ScalarType out = settings.isStream ? at::kFloat : productType(x);
    if (!taken(x) || x.scalar_type() != at::kFloat || !taken(out, x.device()) || weight.scalar_type() != at::kFloat ||
        (delta.defined() && !taken(delta)) || (takesCudaForm(x) && x.size(-1) > kMostNormColumns))
        return plain::residualNorm(x, delta, settings, weight, bias);
    // The kernel's delta and output are of one type.
    if (delta.defined() && delta.scalar_type() != out) return residualNorm(x + delta, at::Tensor(), settings, weight, bias);
    const auto both = ResidualNormFunction::apply(x, maybe(delta), weight.contiguous(), maybe(bias), settings.kind == NormKind::RmsNorm, out);
    return delta.defined() ? NormedSum{both[0], both[1]} : NormedSum{x, both[0]};
}

}  // namespace stepscope::fused
