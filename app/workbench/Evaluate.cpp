#include "app/workbench/Evaluate.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "app/workbench/Checkpoints.h"
#include "core/profile/MachineProbe.h"
#include "core/state/Checkpoint.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// The data as the run of the checkpoint read them, or other data read by its tokenizer.
Result<Corpus> openData(const EvaluateRequest& request, const CheckpointMeta& meta, const std::atomic<bool>& cancelled) {
    std::shared_ptr<const Tokenizer> tokenizer;
    if (!meta.tokenizerJson.empty()) {
        auto stored = tokenizerFromJson(meta.tokenizerJson);
        if (!stored) return stored.error();
        tokenizer = std::move(*stored);
    }
    const bool own = request.data.empty();
    const RunConfig& config = meta.config;
    return openCorpus({.data = own ? config.data : request.data,
                       .tokenizer = config.tokenizer,
                       .vocabulary = meta.model.vocabulary,
                       .validationFraction = own ? config.validationFraction : 0,
                       .validation = own ? config.validation : "split",
                       .separator = config.separator,
                       .with = tokenizer,
                       .context = 1,
                       .seed = static_cast<std::uint64_t>(config.seed),
                       .cacheFolder = {}},
                      {}, cancelled);
}

Result<EvaluateAnswer> evaluate(const EvaluateRequest& request, const std::function<void(double)>& progress, const std::atomic<bool>& cancelled) {
    auto meta = readCheckpointMeta(request.checkpoint);
    if (!meta) return meta.error();
    const std::int64_t context = request.context > 0 ? request.context : meta->model.positions;
    if (context > meta->model.positions)
        return makeError(ErrorCode::BadInput,
                         fmt::format("context cannot be {}: the model of {} has {} positions.", context, request.checkpoint, meta->model.positions));
    auto corpus = openData(request, *meta, cancelled);
    if (!corpus) return corpus.error();
    // Of data of one's own all is read, of the run's the part that validates.
    const std::int64_t begin = request.data.empty() ? corpus->trainTokens : 0;
    if (corpus->tokens->size() - begin < 2)
        return makeError(ErrorCode::BadInput, fmt::format("The run of {} had no validation part; give data to evaluate on.", request.checkpoint));
    std::int64_t end = corpus->tokens->size();
    if (request.tokens > 0) end = std::min(end, begin + request.tokens + 1);
    auto state = loadCheckpointWeights(request.checkpoint, *meta, meta->model);
    if (!state) return state.error();

    at::set_num_threads(static_cast<int>(request.threads > 0 ? request.threads : probeMachine().cores));
    const auto started = std::chrono::steady_clock::now();
    const auto total = static_cast<double>(end - begin - 1);
    const auto result = evaluateRow(
        {state->config, state->layout, state->weights}, *corpus->tokens, begin, end, context, request.batch,
        [&](std::int64_t done) { progress(static_cast<double>(done) / total); }, cancelled);
    if (!result) return result.error();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return EvaluateAnswer{.loss = result->loss,
                          .perplexity = std::exp(result->loss),
                          .tokens = result->tokens,
                          .seconds = seconds,
                          .tokensPerSecond = static_cast<double>(result->tokens) / seconds,
                          .data = corpus->description};
}

}  // namespace

Result<EvaluateAnswer> evaluateCheckpoint(const EvaluateRequest& request, const std::function<void(double)>& progress,
                                          const std::atomic<bool>& cancelled) {
    try {
        return evaluate(request, progress, cancelled);
    } catch (const std::exception& thrown) {
        return describeException(thrown);
    }
}

}  // namespace stepscope
