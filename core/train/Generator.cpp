#include "core/train/Generator.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/CounterRandom.h"
#include "core/base/StepPlace.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTokensPerPiece = 8;

Status checkRequest(const GenerateText& request) {
    const auto refuse = [](const std::string& sentence) { return makeError(ErrorCode::BadInput, sentence); };
    if (request.tokens < 1 || request.tokens > kMostTokensWritten)
        return refuse(fmt::format("The number of tokens must be from 1 to {}.", kMostTokensWritten));
    if (!(request.temperature >= 0) || request.temperature > 100)
        return refuse("The temperature must be from 0 (always the likeliest token) to 100.");
    if (request.topK < 0) return refuse("top-k must be 0 (off) or more.");
    if (!(request.topP > 0) || request.topP > 1) return refuse("top-p must be above 0 and at most 1 (off).");
    return {};
}

}  // namespace

std::int64_t sampleToken(const at::Tensor& logits, const GenerateText& request, double random01) {
    const at::Tensor plain = logits.to(at::kCPU, at::kFloat).contiguous();
    const float* value = plain.data_ptr<float>();
    std::vector<std::int64_t> order(static_cast<std::size_t>(plain.numel()));
    std::iota(order.begin(), order.end(), 0);
    const auto likelier = [value](std::int64_t a, std::int64_t b) { return value[a] > value[b] || (value[a] == value[b] && a < b); };
    if (request.temperature == 0) return *std::min_element(order.begin(), order.end(), likelier);

    if (request.topK > 0 && request.topK < static_cast<std::int64_t>(order.size())) {
        std::nth_element(order.begin(), order.begin() + request.topK, order.end(), likelier);
        order.resize(static_cast<std::size_t>(request.topK));
    }
    std::sort(order.begin(), order.end(), likelier);
    std::vector<double> share(order.size());
    const double highest = value[order.front()];
    double sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) sum += share[i] = std::exp((value[order[i]] - highest) / request.temperature);
    // Top-p keeps the smallest set of likeliest tokens whose probability reaches p.
    std::size_t kept = 0;
    double mass = 0;
    while (kept < share.size() && mass < request.topP * sum) mass += share[kept++];
    double place = random01 * mass;
    for (std::size_t i = 0; i < kept; ++i)
        if ((place -= share[i]) < 0) return order[i];
    return order[kept - 1];
}

Result<std::string> generateText(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                 const std::function<void(const std::string&)>& onText, const std::atomic<bool>& cancelled) {
    if (auto good = checkRequest(request); !good) return good.error();
    auto encoded = tokenizer.encode(request.prompt.empty() ? "\n" : request.prompt);
    if (!encoded) return encoded.error();
    std::vector<std::int64_t> ids(encoded->begin(), encoded->end());
    for (const std::int64_t id : ids)
        if (id >= model.config.vocabulary)
            return makeError(ErrorCode::BadInput,
                             fmt::format("The prompt has the token {}, this model's vocabulary ends at {}.", id, model.config.vocabulary - 1));
    const std::size_t begin = ids.size();

    const PlaceScope place(Activity::Text);
    const c10::InferenceMode inference;
    const ModelOps ops;
    const auto weights = WeightsView::over(model.weights, model.layout, model.config, false);
    std::string text;
    for (std::int64_t i = 0; i < request.tokens && !cancelled; ++i) {
        const auto context = std::min<std::int64_t>(static_cast<std::int64_t>(ids.size()), model.config.positions);
        const at::Tensor tokens =
            at::from_blob(ids.data() + ids.size() - context, {1, context}, at::TensorOptions().dtype(at::kLong)).to(model.weights.device());
        const at::Tensor hidden = gptHidden(model.config, weights, ops, tokens).narrow(1, context - 1, 1);
        const at::Tensor logits = gptLogits(model.config, weights, hidden).view({-1}).narrow(0, 0, model.config.vocabulary);
        const double draw =
            static_cast<double>(counterRandom(static_cast<std::uint64_t>(request.seed), 0x74657874, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
        ids.push_back(sampleToken(logits, request, draw));
        if ((i + 1) % kTokensPerPiece == 0 || i + 1 == request.tokens) {
            const std::vector<std::int32_t> written(ids.begin() + static_cast<std::ptrdiff_t>(begin), ids.end());
            text = tokenizer.decode(written);
            onText(text);
        }
    }
    return text;
}

}  // namespace stepscope
