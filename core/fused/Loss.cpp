// Head and cross-entropy under autograd, the gradient in the logits' place. See FusedOps.h.
#include "core/fused/CudaLoss.h"
#include "core/fused/FusedOps.h"
#include "core/fused/Rows.h"
#include "core/kernels/cross_entropy/CrossEntropyCpu.h"

#include <ATen/ops/linear.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class LossFunction : public torch::autograd::Function<LossFunction> {
public:
    // logits (N, Vp), overwritten when a gradient will be asked for; targets (N) -> mean loss
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& targets, std::int64_t vocabulary, double smoothing, bool wantGradient) {
        const std::int64_t rows = logits.size(0);
        const CrossEntropyShape shape{.columns = logits.size(1), .vocabulary = vocabulary, .smoothing = static_cast<float>(smoothing),
                                      .gradientScale = rows > 0 ? 1.0f / static_cast<float>(rows) : 0.0f};
        const at::Tensor losses = at::empty({rows}, at::kFloat);
        withElement(logits.scalar_type(), [&](auto element) {
            using E = decltype(element);
            parallel(rows, 1, [&](std::int64_t begin, std::int64_t end) {
                crossEntropyCpu<E>().rows(shape, pointer<E>(logits), targets.data_ptr<std::int64_t>(), losses.data_ptr<float>(),
                                          wantGradient ? pointer<E>(logits) : nullptr, begin, end);
            });
        });
        if (wantGradient) ctx->saved_data["gradient"] = logits.detach();
        return losses.mean();
    }

    static variable_list backward(AutogradContext* ctx, variable_list gradients) {
        at::Tensor gradient = ctx->saved_data["gradient"].toTensor();
        // 1 unless the loss was divided, as for accumulated micro-batches.
        const double scale = gradients[0].item<double>();
        if (scale != 1.0) gradient = gradient * scale;
        return {gradient, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

}  // namespace

at::Tensor loss(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings) {
    if (!taken(hidden) || !taken(productType(hidden), hidden.device())) return plain::loss(hidden, headWeight, targets, settings);
    if (hidden.is_cuda()) return lossOnCuda(hidden, headWeight, targets, settings);
    const at::Tensor ids = targets.reshape({-1}).contiguous();
    const std::int64_t* first = ids.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < ids.numel(); ++i)
        TORCH_CHECK_INDEX(first[i] >= 0 && first[i] < settings.vocabulary, "Target ", first[i], " is out of bounds.");
    const at::Tensor logits = at::linear(hidden, headWeight).view({-1, headWeight.size(0)});  // (B*T, Vp)
    return LossFunction::apply(logits, ids, settings.vocabulary, settings.smoothing, c10::GradMode::is_enabled() && logits.requires_grad());
}

}  // namespace stepscope::fused
