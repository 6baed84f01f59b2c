// The projection to queries, keys and values, and its way back, under autograd.
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>

#include "core/fused/FusedOps.h"
#include "core/fused/KeptPlace.h"
#include "core/fused/Linear.h"
#include "core/fused/Rows.h"
#include "core/kernels/qkv_layout/QkvLayoutCpu.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The three gradients (B, H, T, D) as the (B, T, 3C) they are pieces of, when attention's backward made them so; else undefined.
at::Tensor joined(const variable_list& parts, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D) {
    const std::int64_t C = H * D;
    const std::array<std::int64_t, 4> strides{T * 3 * C, D, 3 * C, 1};
    for (std::size_t p = 0; p < 3; ++p)
        if (!parts[p].defined() || parts[p].strides() != at::IntArrayRef(strides) || parts[p].storage().data() != parts[0].storage().data() ||
            parts[p].storage_offset() != parts[0].storage_offset() + static_cast<std::int64_t>(p) * C)
            return {};
    return parts[0].as_strided({B, T, 3 * C}, {T * 3 * C, 3 * C, 1});
}

struct Merged {
    at::Tensor rows, gradBias;
};
// The same by copying, whatever the three look like, and in the same pass the gradient of the bias where it is wanted.
Merged merged(const variable_list& parts, const at::TensorOptions& options, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D,
              bool wantsBias) {
    const at::Tensor rows = at::empty({B, T, 3 * H * D}, options);
    at::Tensor gradBias;
    const OperationWork work = moved({parts[0], parts[1], parts[2], rows});
    const auto cpu = [&] {
        const OperationSpan span("merge QKV gradients", 0, work);
        std::array<at::Tensor, 3> heads;
        for (std::size_t p = 0; p < 3; ++p) heads[p] = parts[p].defined() ? parts[p].contiguous() : at::zeros({B, H, T, D}, options);
        withElement(rows.scalar_type(), [&](auto element) {
            using E = decltype(element);
            const E* of[3] = {pointer<E>(heads[0]), pointer<E>(heads[1]), pointer<E>(heads[2])};
            const auto merge = [&](std::int64_t begin, std::int64_t end, float* sums) {
                qkvLayoutCpu<E>().merge({T, H, D}, 3, of, pointer<E>(rows), sums, begin, end);
            };
            if (wantsBias)
                gradBias = sumOfRows(B * T, 3 * H * D, merge);
            else
                at::parallel_for(0, B * T, 64, [&](std::int64_t begin, std::int64_t end) { merge(begin, end, nullptr); });
        });
    };
    onDevice("merge QKV gradients", rows, work, cpu, [&](const CudaInterface& cuda) {
        std::array<at::Tensor, 3> heads;  // alive until the launch
        CudaHeadPart of[3];
        for (std::size_t p = 0; p < 3; ++p) {
            if (!parts[p].defined()) continue;
            heads[p] = parts[p].stride(3) == 1 ? parts[p] : parts[p].contiguous();
            of[p] = {data(heads[p]), heads[p].stride(0), heads[p].stride(1), heads[p].stride(2)};
        }
        at::Tensor partial;
        if (wantsBias) {
            gradBias = at::empty({3 * H * D}, options.dtype(at::kFloat));
            partial = workspace(cuda.columnSumsWorkspaceBytes(B * T, 3 * H * D), rows);
        }
        return cuda.mergeHeads(rowsOf(rows, B * T, 3 * H * D), T, H, of, data(rows), floats(gradBias), data(partial));
    });
    return {rows, gradBias};
}

class HeadsFunction : public torch::autograd::Function<HeadsFunction> {
public:
    // rows (B, T, 3C), the product with its bias -> three views (B, H, T, D). bias only for its gradient: summed here in float32.
    static variable_list forward(AutogradContext* ctx, const at::Tensor& rows, const std::optional<at::Tensor>& bias, std::int64_t H) {
        ctx->set_materialize_grads(false);
        const std::int64_t B = rows.size(0), T = rows.size(1), D = rows.size(2) / 3 / H;
        ctx->saved_data["shape"] = c10::List<std::int64_t>({B, T, H, D, placeCode()});
        ctx->saved_data["bias"] = bias.has_value();
        ctx->saved_data["type"] = static_cast<std::int64_t>(rows.scalar_type());
        ctx->saved_data["on"] = rows.device();
        // Outputs of a function of its own, not views that autograd has to follow.
        const at::AutoDispatchBelowADInplaceOrView plainViews;
        variable_list heads;
        for (const auto& part : rows.split(H * D, 2)) heads.push_back(part.view({B, T, H, D}).transpose(1, 2));
        return heads;
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const auto shape = ctx->saved_data["shape"].toIntVector();
        const PlaceScope place = placeOf(shape[4]);
        const std::int64_t B = shape[0], T = shape[1], H = shape[2], D = shape[3];
        const auto options =
            at::TensorOptions().dtype(static_cast<at::ScalarType>(ctx->saved_data["type"].toInt())).device(ctx->saved_data["on"].toDevice());
        const bool wantsBias = ctx->saved_data["bias"].toBool();
        const at::Tensor rows = joined(gradients, B, T, H, D);
        if (rows.defined()) return {rows, wantsBias ? columnSums("QKV bias gradient", rows) : at::Tensor(), at::Tensor()};
        const Merged copied = merged(gradients, options, B, T, H, D, wantsBias);
        return {copied.rows, copied.gradBias, at::Tensor()};
    }
};

}  // namespace

Heads linearHeads(const at::Tensor& x, const Weight& weight, const Weight& bias, std::int64_t heads) {
    if (!taken(x) || !taken(productType(x), x.device()) || (bias.defined() && bias.full.scalar_type() != at::kFloat))
        return plain::linearHeads(x, weight, bias, heads);
    const at::Tensor rows = product(x, weight, bias, BiasGradient::Elsewhere);
    const auto parts = HeadsFunction::apply(rows, maybe(bias.full), heads);
    return {parts[0], parts[1], parts[2]};
}

}  // namespace stepscope::fused
