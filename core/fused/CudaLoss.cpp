// Forward makes the logits of a chunk, their losses and gradients in their place, and with those both gradients of the
// product at once, so that backward only hands them over.
#include "core/fused/CudaLoss.h"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/fused/FloatProduct.h"
#include "core/fused/Rows.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kLogitsAtOnce = std::int64_t{1} << 28;  // half a GB in 16 bits
constexpr std::int64_t kRowsTogether = 128;                    // what a matrix product takes as one tile

// x (N, C) and head (Vp, C) of one type. gradX and gradHead, which is float32, are written when they are defined.
at::Tensor byChunks(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets, const LossSettings& settings, const at::Tensor& gradX,
                    const at::Tensor& gradHead) {
    const std::int64_t rows = x.size(0), columns = head.size(0), chunk = rowsOfLogits(rows, columns);
    const at::Tensor losses = at::empty({rows}, x.options().dtype(at::kFloat));
    for (std::int64_t begin = 0; begin < rows; begin += chunk) {
        const std::int64_t count = std::min(chunk, rows - begin);
        const at::Tensor part = x.narrow(0, begin, count), logits = at::mm(part, head.t());
        // The gradient takes the logits' place.
        const OperationWork work{0, (gradX.defined() ? 2 : 1) * static_cast<std::int64_t>(logits.nbytes())};
        onCuda("cross-entropy", x, work, [&](const CudaInterface& cuda) {
            return cuda.crossEntropy(rowsOf(x, count, columns),
                                     {.vocabulary = settings.vocabulary,
                                      .smoothing = static_cast<float>(settings.smoothing),
                                      .gradientScale = static_cast<float>(settings.backwardScale / static_cast<double>(rows)),
                                      .logits = data(logits),
                                      .wantsGradient = gradX.defined(),
                                      .targets = targets.data_ptr<std::int64_t>() + begin,
                                      .losses = floats(losses) + begin});
        });
        if (!gradX.defined()) continue;
        at::Tensor here = gradX.narrow(0, begin, count);
        at::mm_out(here, logits, head);
        if (begin == 0)
            floatProduct(gradHead, logits.t(), part);
        else
            addFloatProduct(gradHead, logits.t(), part);
    }
    return losses.mean();
}

class ChunkedHeadFunction : public torch::autograd::Function<ChunkedHeadFunction> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets,
                              const LossSettings& settings, at::ScalarType type) {
        const at::Tensor x = hidden.to(type).reshape({-1, hidden.size(-1)}).contiguous();
        const at::Tensor gradX = at::empty_like(x), gradHead = x.size(0) == 0 ? at::zeros_like(headWeight) : at::empty_like(headWeight);
        const at::Tensor loss = byChunks(x, headWeight.to(type).contiguous(), targets, settings, gradX, gradHead);
        ctx->save_for_backward({gradX.view(hidden.sizes()), gradHead});
        return loss;
    }

    static variable_list backward(AutogradContext* ctx, variable_list) {
        const auto saved = ctx->get_saved_variables();
        return {saved[0], saved[1], at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

}  // namespace

std::int64_t rowsOfLogits(std::int64_t rows, std::int64_t columns) {
    const std::int64_t wanted = kLogitsAtOnce / std::max<std::int64_t>(1, columns) / kRowsTogether * kRowsTogether;
    return std::clamp(wanted, kRowsTogether, std::max(kRowsTogether, rows));
}

at::Tensor lossOnCuda(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings) {
    const at::ScalarType type = productType(hidden);
    const at::Tensor ids = targets.reshape({-1}).contiguous();
    if (c10::GradMode::is_enabled() && (hidden.requires_grad() || headWeight.requires_grad()))
        return ChunkedHeadFunction::apply(hidden, headWeight, ids, settings, type);
    return byChunks(hidden.to(type).reshape({-1, hidden.size(-1)}).contiguous(), headWeight.to(type).contiguous(), ids, settings, {}, {});
}

}  // namespace stepscope::fused
