#include "core/train/Evaluation.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/model/Gpt.h"

namespace stepscope {

std::string whyNothingToEvaluateOn(const Corpus& corpus, std::int64_t context) {
    const std::int64_t tokens = corpus.validationTokens();
    if (tokens > context) return {};
    if (tokens == 0) return "There is no validation part to evaluate on; set validation-fraction above 0 in a new run.";
    return fmt::format(
        "There is nothing to evaluate on: the validation part has {} tokens, and one sequence needs {}; lower context, or raise validation-fraction "
        "in a new run.",
        tokens, context + 1);
}

Result<Evaluation> evaluateRow(const GeneratorWeights& model, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                               std::int64_t batch, const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled) {
    SS_CHECK(begin >= 0 && end <= row.size() && end - begin >= 2 && context >= 1 && context <= model.config.positions && batch >= 1);
    const c10::InferenceMode inference;
    const ModelOps ops;
    const auto weights = WeightsView::over(model.weights, model.layout, model.config, false);
    Evaluation total{.loss = 0, .tokens = end - begin - 1};
    double sum = 0;
    for (std::int64_t done = 0; done < total.tokens;) {
        if (cancelled) return makeError(ErrorCode::Cancelled, "The evaluation was stopped.");
        // Whole windows as long as there are any, then what is left as a shorter one.
        const std::int64_t left = total.tokens - done, window = std::min(context, left);
        const std::int64_t windows = std::clamp<std::int64_t>(left / window, 1, batch);
        const at::Tensor ids = at::empty({2, windows, window}, at::TensorOptions().dtype(at::kLong));
        auto* inputs = ids.data_ptr<std::int64_t>();
        for (std::int64_t i = 0; i < windows; ++i)
            row.copyPair(begin + done + i * window, window, inputs + i * window, inputs + (windows + i) * window);
        const at::Tensor loss = gptLoss(model.config, weights, ops, ids.select(0, 0), ids.select(0, 1));
        sum += loss.item<double>() * static_cast<double>(windows * window);
        if (!std::isfinite(sum)) break;  // nothing that follows makes a number of it
        done += windows * window;
        progress(done);
    }
    total.loss = sum / static_cast<double>(total.tokens);
    return total;
}

Result<std::vector<double>> windowsDecoded(Decoder& decoder, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                                           const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled) {
    SS_CHECK(begin >= 0 && end <= row.size() && end - begin >= 2 && context >= 1 && context <= decoder.positions());
    const std::int64_t tokens = end - begin - 1;
    std::vector<double> windows;
    std::vector<std::int64_t> ids, targets;
    for (std::int64_t done = 0; done < tokens;) {
        if (cancelled) return makeError(ErrorCode::Cancelled, "The evaluation was stopped.");
        const std::int64_t window = std::min(context, tokens - done);
        ids.resize(static_cast<std::size_t>(window));
        targets.resize(ids.size());
        row.copyPair(begin + done, window, ids.data(), targets.data());
        ids.push_back(targets.back());
        windows.push_back(decoder.negativeLogLikelihood(ids));
        done += window;
        progress(done);
    }
    return windows;
}

Result<Evaluation> evaluateDecoded(Decoder& decoder, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                                   const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled) {
    const auto windows = windowsDecoded(decoder, row, begin, end, context, progress, cancelled);
    if (!windows) return windows.error();
    double sum = 0;
    for (const double window : *windows) sum += window;
    return Evaluation{.loss = sum / static_cast<double>(end - begin - 1), .tokens = end - begin - 1};
}

}  // namespace stepscope
