#include "app/workbench/Evaluate.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/workbench/StoredModel.h"
#include "app/workbench/text/HeldOut.h"
#include "core/inference/Decoder.h"
#include "core/inference/NextTokens.h"
#include "core/profile/MachineProbe.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// How fast text is written behind the first of the tokens, as fast as it is with nothing drawn.
double writingSpeed(const GeneratorWeights& model, WeightType type, const TokenRow& row, std::int64_t begin, std::int64_t end, int threads) {
    constexpr std::int64_t kTokens = 33;
    const std::int64_t window = std::min<std::int64_t>({32, end - begin - 1, model.config.positions});
    std::vector<std::int64_t> prompt(static_cast<std::size_t>(window)), targets(prompt.size());
    row.copyPair(begin, window, prompt.data(), targets.data());
    const auto tokens = cachedTokens(model, type, {.sequences = 1, .tokens = window + kTokens}, threads);
    tokens->begin({&prompt, 1});
    std::chrono::steady_clock::time_point started;
    for (std::int64_t i = 0; i < kTokens; ++i) {
        if (i == 1) started = std::chrono::steady_clock::now();  // the first is one of the prompt's kind: caches are cold
        const auto logits = tokens->logits(0);
        const Continued likeliest{0, std::max_element(logits.begin(), logits.end()) - logits.begin()};
        tokens->append({&likeliest, 1});
    }
    return static_cast<double>(kTokens - 1) / std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// float32 first, then the type that was asked for, both by a Decoder, so that their speeds are of one kind.
Result<EvaluateAnswer> evaluateTypes(const GeneratorWeights& model, const std::string& dtype, const TokenRow& row, std::int64_t begin,
                                     std::int64_t end, std::int64_t context, int threads, const std::function<void(double)>& progress,
                                     const std::atomic<bool>& cancelled) {
    const auto asked = weightTypeNamed(dtype);
    if (!asked) return asked.error();
    std::vector<WeightType> types{WeightType::F32};
    if (*asked != WeightType::F32) types.push_back(*asked);
    EvaluateAnswer answer;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::int64_t rows = std::min<std::int64_t>(64, context);
        Decoder decoder(model, types[i], {.positions = context, .rows = rows, .logits = rows}, threads);
        const auto started = std::chrono::steady_clock::now();
        const auto share = [&](std::int64_t done) {
            progress((static_cast<double>(i) + static_cast<double>(done) / static_cast<double>(end - begin - 1)) / static_cast<double>(types.size()));
        };
        const auto found = evaluateDecoded(decoder, row, begin, end, context, share, cancelled);
        if (!found) return found.error();
        answer.loss = found->loss;
        answer.perplexity = std::exp(found->loss);
        answer.tokens = found->tokens;
        answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
        answer.tokensPerSecond = static_cast<double>(found->tokens) / answer.seconds;
        answer.types.push_back({.dtype = toString(types[i]),
                                .loss = answer.loss,
                                .perplexity = answer.perplexity,
                                .weights = decoder.weightBytes(),
                                .readPerSecond = answer.tokensPerSecond});
    }
    for (std::size_t i = 0; i < types.size(); ++i) answer.types[i].writtenPerSecond = writingSpeed(model, types[i], row, begin, end, threads);
    return answer;
}

Result<EvaluateAnswer> evaluate(const EvaluateRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    const auto model = openStoredModel(request.checkpoint);
    if (!model) return model.error();
    const std::int64_t context = request.context > 0 ? request.context : model->model.positions;
    if (context > model->model.positions)
        return makeError(ErrorCode::BadInput,
                         fmt::format("context cannot be {}: the model of {} has {} positions.", context, request.checkpoint, model->model.positions));
    const auto text = openHeldOut(*model, request.data, request.tokens, cancelled);
    if (!text) return text.error();
    const TokenRow& tokens = *text->corpus.tokens;
    const std::int64_t begin = text->begin, end = text->end;
    const auto weights = weightsOf(*model);
    if (!weights) return weights.error();

    const int threads = static_cast<int>(request.threads > 0 ? request.threads : probeMachine().cores);
    at::set_num_threads(threads);
    if (!request.dtype.empty()) {
        auto answer = evaluateTypes({weights->config, weights->layout, weights->weights}, request.dtype, tokens, begin, end, context, threads,
                                    progress, cancelled);
        if (!answer) return answer;
        if (!std::isfinite(answer->types.front().loss)) return giveNoNumbers(request.checkpoint);
        answer->data = text->corpus.description;
        return answer;
    }
    const auto started = std::chrono::steady_clock::now();
    const auto total = static_cast<double>(end - begin - 1);
    const auto result = evaluateRow(
        {weights->config, weights->layout, weights->weights}, tokens, begin, end, context, request.batch,
        [&](std::int64_t done) { progress(static_cast<double>(done) / total); }, cancelled);
    if (!result) return result.error();
    if (!std::isfinite(result->loss)) return giveNoNumbers(request.checkpoint);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return EvaluateAnswer{.loss = result->loss,
                          .perplexity = std::exp(result->loss),
                          .tokens = result->tokens,
                          .seconds = seconds,
                          .tokensPerSecond = static_cast<double>(result->tokens) / seconds,
                          .data = text->corpus.description};
}

}  // namespace

Result<EvaluateAnswer> evaluateCheckpoint(const EvaluateRequest& request, const std::function<void(double)>& progress,
                                          const std::atomic<bool>& cancelled) {
    try {
        return evaluate(request, progress, cancelled);
    } catch (const std::exception& thrown) {
        return describeException(thrown, Doing::Reading);
    }
}

}  // namespace stepscope
