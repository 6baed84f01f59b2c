// Head and cross-entropy under autograd: loss and gradients are made together, in forward.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

#include "core/fused/CudaLoss.h"
#include "core/fused/FusedOps.h"
#include "core/fused/Rows.h"
#include "core/kernels/linear_cross_entropy/LinearCrossEntropy.h"

namespace stepscope::fused {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Gradients {
    at::Tensor hidden, weight;  // undefined: only the loss is wanted
};

// hidden (N, C), weight (Vp, C) float32, targets (N) -> mean loss; gradients become those of the mean times settings.backwardScale.
at::Tensor meanLoss(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets, const LossSettings& settings,
                    const Gradients& gradients) {
    const std::int64_t N = hidden.size(0), C = hidden.size(1);
    const bool low = hidden.scalar_type() == at::kBFloat16, train = gradients.hidden.defined();
    const int workers = at::get_num_threads();
    LinearCrossEntropyShape shape{
        .element = low ? gemm::Element::Bf16 : gemm::Element::F32, .width = C, .vocabulary = settings.vocabulary, .gradients = train};
    for (int worker = 0; worker < workers; ++worker) {
        const Share blocks = share((N + 31) / 32, worker, workers);
        shape.rows.push_back({std::min(N, blocks.begin * 32), std::min(N, blocks.end * 32)});
    }
    LinearCrossEntropy head(std::move(shape));
    Arena counting;
    head.place(counting);
    const at::Tensor block = at::empty({counting.used()}, at::kByte);
    Arena arena(block.data_ptr());
    head.place(arena);

    // Rows of an operand are whole words.
    const at::Tensor rows = low && C % 2 == 1 ? at::constant_pad_nd(hidden, {0, 1}) : hidden;
    const LinearCrossEntropyInput in{.hidden = rows.data_ptr(),
                                     .stride = rows.size(1),
                                     .targets = targets.data_ptr<std::int64_t>(),
                                     .weight = weight.data_ptr<float>(),
                                     .smoothing = static_cast<float>(settings.smoothing),
                                     .scale = static_cast<float>(settings.backwardScale / static_cast<double>(N))};
    const auto everyWorker = [&](const char* name, OperationWork amount, auto&& work) {
        parallel(name, workers, 1, amount, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t worker = begin; worker < end; ++worker) work(static_cast<int>(worker));
        });
    };
    // Of the rows of a piece: logits and, in training, the hidden state's gradient; the weights pass by once for either.
    const auto inPiece = [&](int piece) {
        std::int64_t all = 0;
        for (int worker = 0; worker < workers; ++worker) all += head.rowsOf(worker, piece).size();
        return all;
    };
    const std::int64_t weights = settings.vocabulary * C, element = rows.element_size();
    everyWorker("pack head", {0, weights * (4 + 2 * element)}, [&](int worker) {
        head.pack(worker, in.weight);
        if (in.smoothing > 0) head.sumWeights(worker, in.weight);
    });
    std::vector<double> losses(static_cast<std::size_t>(workers));
    for (int piece = 0; piece < head.pieces(); ++piece) {
        const std::int64_t n = inPiece(piece), products = train ? 2 : 1;
        everyWorker("head + cross-entropy", {2 * products * n * weights, products * element * (n * C + weights), factorsOf(rows)}, [&](int worker) {
            const Share all = head.rowsOf(worker, piece);
            for (std::int64_t row = all.begin; row < all.end; row += head.rowBlock()) {
                void* const to = train ? static_cast<std::byte*>(gradients.hidden.data_ptr()) + row * C * hidden.itemsize() : nullptr;
                losses[static_cast<std::size_t>(worker)] += head.rows(worker, piece, {row, std::min(all.end, row + head.rowBlock())}, in, to);
            }
        });
        if (train)
            everyWorker("head weight gradient", {2 * n * weights, element * n * C + 4 * weights, factorsOf(rows)},
                        [&](int worker) { head.weightGradient(worker, piece, in, piece > 0, gradients.weight.data_ptr<float>()); });
    }
    return at::full({}, std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(N), at::kFloat);
}

class LossFunction : public torch::autograd::Function<LossFunction> {
public:
    static at::Tensor forward(AutogradContext* ctx, const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& targets,
                              const LossSettings& settings) {
        const Gradients gradients{at::empty(hidden.sizes(), hidden.options()), at::empty(weight.sizes(), weight.options())};
        gradients.weight.narrow(0, settings.vocabulary, weight.size(0) - settings.vocabulary).zero_();  // padded ids
        const at::Tensor loss = meanLoss(hidden, weight, targets, settings, gradients);
        ctx->save_for_backward({gradients.hidden, gradients.weight});
        ctx->saved_data["scale"] = settings.backwardScale;
        return loss;
    }

    static variable_list backward(AutogradContext* ctx, variable_list incoming) {
        const PlaceScope place(Role::HeadLoss);
        const auto saved = ctx->get_saved_variables();
        // What comes is float32: a third is not the same number there.
        const double factor = incoming[0].item<double>() / static_cast<double>(static_cast<float>(ctx->saved_data["scale"].toDouble()));
        if (factor == 1) return {saved[0], saved[1], {}, {}};
        return {saved[0] * factor, saved[1] * factor, {}, {}};
    }
};

}  // namespace

at::Tensor loss(const at::Tensor& hidden, const at::Tensor& headWeight, const at::Tensor& targets, const LossSettings& settings) {
    const at::ScalarType type = productType(hidden);
    if (!taken(hidden) || !taken(type, hidden.device())) return plain::loss(hidden, headWeight, targets, settings);
    if (takesCudaForm(hidden)) return lossOnCuda(hidden, headWeight, targets, settings);
    if (headWeight.scalar_type() != at::kFloat) return plain::loss(hidden, headWeight, targets, settings);
    const at::Tensor ids = targets.reshape({-1}).contiguous(), rows = hidden.reshape({-1, hidden.size(-1)}).to(type).contiguous(),
                     weight = headWeight.contiguous();
    const std::int64_t* first = ids.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < ids.numel(); ++i)
        TORCH_CHECK_INDEX(first[i] >= 0 && first[i] < settings.vocabulary, "Target ", first[i], " is out of bounds.");
    if (c10::GradMode::is_enabled() && (rows.requires_grad() || weight.requires_grad())) return LossFunction::apply(rows, weight, ids, settings);
    return meanLoss(rows, weight, ids, settings, {});
}

}  // namespace stepscope::fused
