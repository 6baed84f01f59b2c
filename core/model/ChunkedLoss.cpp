#include "core/model/ChunkedLoss.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/base/Check.h"

namespace stepscope {
namespace {

// Autocast would lower the whole head again for every chunk.
at::Tensor loweredOnce(const at::Tensor& weight) {
    const auto device = weight.device().type();
    return at::autocast::is_autocast_enabled(device) ? weight.to(at::autocast::get_autocast_dtype(device)) : weight;
}

struct Chunks {
    Chunks(const at::Tensor& hidden, const at::Tensor& targets, std::int64_t rowsAtOnce)
        : x(hidden.reshape({-1, hidden.size(-1)})), wanted(targets.reshape({-1})), rows(rowsAtOnce) {}
    at::Tensor x, wanted;  // (N, C), (N)
    std::int64_t rows;

    // chunk(begin, count, its share of all rows)
    template <class Function>
    void each(const Function& chunk) const {
        const std::int64_t all = x.size(0);
        for (std::int64_t begin = 0; begin < all; begin += rows) {
            const std::int64_t count = std::min(rows, all - begin);
            chunk(begin, count, static_cast<double>(count) / static_cast<double>(all));
        }
    }
};

struct LossByChunks final : torch::autograd::Function<LossByChunks> {
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& hidden, const at::Tensor& headWeight,
                              const at::Tensor& targets, const LossSettings& settings, std::int64_t rows) {
        const Chunks chunks(hidden, targets, rows);
        const at::Tensor head = loweredOnce(headWeight).detach().set_requires_grad(true);
        at::Tensor dHidden = at::empty_like(chunks.x), dHead = at::zeros_like(headWeight), total = at::zeros({}, headWeight.options());
        chunks.each([&](std::int64_t begin, std::int64_t count, double share) {
            const c10::AutoGradMode recording(true);
            const at::Tensor part = chunks.x.narrow(0, begin, count).detach().set_requires_grad(true);
            const at::Tensor loss = plain::loss(part, head, chunks.wanted.narrow(0, begin, count), settings) * share;
            const auto gradients = torch::autograd::grad({loss}, {part, head}, {at::full_like(loss, settings.backwardScale)});
            const c10::NoGradGuard quiet;
            total.add_(loss);
            dHidden.narrow(0, begin, count).copy_(gradients[0]);
            dHead.add_(gradients[1]);
        });
        context->save_for_backward({dHidden.view(hidden.sizes()), dHead});
        context->saved_data["scale"] = settings.backwardScale;
        return total;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, const torch::autograd::variable_list& incoming) {
        const auto saved = context->get_saved_variables();
        // What comes is float32: a third is not the same number there.
        const double factor = incoming[0].item<double>() / static_cast<double>(static_cast<float>(context->saved_data["scale"].toDouble()));
        if (factor == 1) return {saved[0], saved[1], {}, {}, {}};
        return {saved[0] * factor, saved[1] * factor, {}, {}, {}};
    }
};

}  // namespace

at::Tensor chunkedLoss(std::int64_t rows, const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets,
                       const LossSettings& settings) {
    SS_CHECK(rows >= 1);
    if (c10::GradMode::is_enabled() && (hidden.requires_grad() || headWeight.requires_grad()))
        return LossByChunks::apply(hidden, headWeight, targets, settings, rows);
    const Chunks chunks(hidden, targets, rows);
    const at::Tensor head = loweredOnce(headWeight);
    at::Tensor total = at::zeros({}, headWeight.options().requires_grad(false));
    chunks.each([&](std::int64_t begin, std::int64_t count, double share) {
        total.add_(plain::loss(chunks.x.narrow(0, begin, count), head, chunks.wanted.narrow(0, begin, count), settings), share);
    });
    return total;
}

}  // namespace stepscope
