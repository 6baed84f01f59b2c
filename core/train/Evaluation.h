// The loss of a model on a whole row of tokens: each token after the first predicted once, in windows of the context one after the other, in float32.
// For `eval`; a run's own validation is StepProgram::evaluate.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/data/Corpus.h"
#include "core/inference/Decoder.h"
#include "core/train/Generator.h"

namespace stepscope {

// Why a run cannot validate on these data with this context, a sentence; empty = it can.
std::string whyNothingToEvaluateOn(const Corpus& corpus, std::int64_t context);

struct Evaluation {
    double loss = 0;          // mean over the tokens, nats
    std::int64_t tokens = 0;  // predicted
};

// Ids begin ... end - 1 of `row`, at least two of them and each below the model's vocabulary. context: window, at most the model's positions; batch:
// windows at a time. progress: tokens done so far. Cancelled when asked to.
Result<Evaluation> evaluateRow(const GeneratorWeights& model, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                               std::int64_t batch, const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled);
// The same by a Decoder, with the weights as it holds them; its first sequence is used. context: at most its positions. What each window costs,
// summed in nats, one after the other; the last one may be shorter.
Result<std::vector<double>> windowsDecoded(Decoder& decoder, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                                           const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled);
Result<Evaluation> evaluateDecoded(Decoder& decoder, const TokenRow& row, std::int64_t begin, std::int64_t end, std::int64_t context,
                                   const std::function<void(std::int64_t)>& progress, const std::atomic<bool>& cancelled);

}  // namespace stepscope
