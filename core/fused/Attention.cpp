// Causal attention under autograd: one head of one sequence is one piece of work.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_strided.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "core/base/AttentionWork.h"
#include "core/fused/FusedOps.h"
#include "core/fused/KeptPlace.h"
#include "core/fused/Rows.h"
#include "core/kernels/attention/AttentionCpu.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows of one head may lie anywhere, the elements of a row may not.
at::Tensor withRows(const at::Tensor& t) {
    return t.stride(3) == 1 || t.size(3) <= 1 ? t : t.contiguous();
}

template <class T>
HeadRows<T> headOf(const at::Tensor& t, std::int64_t b, std::int64_t h) {
    return {pointer<T>(t) + b * t.stride(0) + h * t.stride(1), t.stride(2)};
}

AttentionShape shapeOf(const at::Tensor& q) {
    return {.context = q.size(2), .width = q.size(3), .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(q.size(3))))};
}

// Of so many products with the scores on and below the diagonal, and so many matrices like q.
OperationWork causalWork(const at::Tensor& q, std::int64_t products, std::int64_t matrices) {
    const std::int64_t T = q.size(2), heads = q.size(0) * q.size(1);
    return {heads * attention_work::flops(T, T, q.size(3), products, true), matrices * q.numel() * q.element_size(), factorsOf(q)};
}

// function(b, h, scratch) for every head of every sequence; each thread has scratch of its own, aligned to 64.
template <class Function>
void overHeads(const char* name, const at::Tensor& q, OperationWork work, std::int64_t scratchBytes, Function function) {
    const std::int64_t H = q.size(1);
    parallel(name, q.size(0) * H, 1, work, [&](std::int64_t begin, std::int64_t end) {
        const at::Tensor memory = at::empty({scratchBytes + 64}, at::kByte);
        auto* const start = memory.data_ptr<std::uint8_t>();
        void* const scratch = start + (64 - reinterpret_cast<std::uintptr_t>(start) % 64) % 64;
        for (std::int64_t i = begin; i < end; ++i) function(i / H, i % H, scratch);
    });
}

class AttentionFunction : public torch::autograd::Function<AttentionFunction> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) {
        keepPlace(ctx);
        const at::Tensor q = withRows(queries), k = withRows(keys), v = withRows(values);
        const std::int64_t B = q.size(0), H = q.size(1), T = q.size(2), D = q.size(3);
        const at::Tensor out = at::empty_strided({B, H, T, D}, {T * H * D, D, H * D, 1}, q.options());
        const at::Tensor logSum = at::empty({B, H, T}, at::kFloat);
        withElement(q.scalar_type(), [&](auto element) {
            using E = decltype(element);
            const auto& kernel = attentionForward<E>();
            const AttentionShape shape = shapeOf(q);
            overHeads("attention", q, causalWork(q, attention_work::kForwardProducts, 4), kernel.scratchBytes(shape),
                      [&](std::int64_t b, std::int64_t h, void* scratch) {
                          kernel.run(shape, headOf<const E>(q, b, h), headOf<const E>(k, b, h), headOf<const E>(v, b, h), headOf<E>(out, b, h),
                                     logSum.data_ptr<float>() + (b * H + h) * T, scratch);
                      });
        });
        ctx->save_for_backward({q, k, v, out, logSum});
        return out;
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        const PlaceScope place = keptPlace(ctx, Role::AttentionCore);
        const auto saved = ctx->get_saved_variables();
        const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &logSum = saved[4];
        const at::Tensor gradOut = withRows(gradients[0]);
        const std::int64_t B = q.size(0), H = q.size(1), T = q.size(2), D = q.size(3), C = H * D;
        // One buffer (B, T, 3, H, D): what the projection's backward takes as it is.
        const at::Tensor all = at::empty({B, T, 3 * C}, q.options());
        const auto part = [&](std::int64_t p) { return all.as_strided({B, H, T, D}, {T * 3 * C, D, 3 * C, 1}, p * C); };
        const at::Tensor gradQ = part(0), gradK = part(1), gradV = part(2);
        withElement(q.scalar_type(), [&](auto element) {
            using E = decltype(element);
            const auto& kernel = attentionBackward<E>();
            const AttentionShape shape = shapeOf(q);
            overHeads("attention backward", q, causalWork(q, attention_work::kBackwardProducts, 8), kernel.scratchBytes(shape),
                      [&](std::int64_t b, std::int64_t h, void* scratch) {
                          kernel.run(shape, headOf<const E>(q, b, h), headOf<const E>(k, b, h), headOf<const E>(v, b, h), headOf<const E>(out, b, h),
                                     headOf<const E>(gradOut, b, h), logSum.data_ptr<float>() + (b * H + h) * T, headOf<E>(gradQ, b, h),
                                     headOf<E>(gradK, b, h), headOf<E>(gradV, b, h), scratch);
                      });
        });
        return {gradQ, gradK, gradV};
    }
};

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const at::ScalarType type = at::autocast::is_autocast_enabled(at::kCPU) ? productType(q) : q.scalar_type();
    if (!q.is_cpu() || !taken(q) || !taken(type, q.device()) || k.sizes() != q.sizes() || v.sizes() != q.sizes()) return sdpaAttention(q, k, v);
    return AttentionFunction::apply(q.to(type), k.to(type), v.to(type));
}

}  // namespace stepscope::fused
