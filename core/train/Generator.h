// Generator: text from a copy of the weights taken at a step boundary. Runs on a generator thread while training goes on, or
// alone from a checkpoint. How tokens are computed is in core/inference; here are prompts, pieces, stops and what it took.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/Result.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/events/Command.h"
#include "core/inference/GeneratorWeights.h"
#include "core/inference/NextTokens.h"

namespace stepscope {

struct TextOptions {
    WeightType type = WeightType::F32;
    int threads = 0;         // 0 = as many as LibTorch's operations have
    bool recompute = false;  // the whole context for each token, as where a Decoder cannot be
    bool ignoreEnd = false;  // goes on behind the tokenizer's end of text, to as many tokens as were asked for
};

// What a text, or several beside each other, took.
struct TextWork {
    std::int64_t promptTokens = 0, textTokens = 0;  // of all texts
    double promptSeconds = 0, textSeconds = 0;
    std::int64_t computed = 0;  // tokens of the text that were read in textSeconds: the last of each text is not
    Bytes weights, cache;
    int threads = 0;
    std::string recomputed;  // why tokens were not computed once each, a clause; empty = they were
    bool stopped = false;    // by `cancelled`, before every text was complete

    double promptRate() const { return promptSeconds > 0 ? static_cast<double>(promptTokens) / promptSeconds : kUnknown; }  // tokens a second
    double textRate() const { return textSeconds > 0 && computed > 0 ? static_cast<double>(computed) / textSeconds : kUnknown; }
};

using TextSink = std::function<void(std::size_t prompt, const std::string& text, const TextWork& work)>;

// Writes behind each prompt, all beside each other; request.prompt is not read. Calls onText with a whole text so far, its prompt left out, every few
// tokens and at its end; stops early when `cancelled`. A text ends where its model writes the tokenizer's end of text, which is no part of it. Of an
// empty prompt the text goes on from a new line. Returns the whole texts.
Result<std::vector<std::string>> generateTexts(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                               std::span<const std::string> prompts, const TextOptions& options, const TextSink& onText,
                                               const std::atomic<bool>& cancelled, TextWork& work);

// One text, behind request.prompt, with the weights as they are.
Result<std::string> generateText(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                 const std::function<void(const std::string&)>& onText, const std::atomic<bool>& cancelled);

// Draws one id from logits (V) of the last position. random01 in [0, 1).
std::int64_t sampleToken(const at::Tensor& logits, const GenerateText& request, double random01);

}  // namespace stepscope
