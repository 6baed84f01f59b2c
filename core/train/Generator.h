// Generator: text from a copy of the weights taken at a step boundary. Runs on a generator thread while training goes on, or
// alone from a checkpoint. Sampling: temperature, top-k (Fan et al. 2018), top-p (Holtzman et al. 2020).
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/Result.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/events/Command.h"
#include "core/model/WeightsView.h"

namespace stepscope {

struct GeneratorWeights {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;  // own copy, on the CPU or a GPU
};

// Calls onText(whole text so far, prompt left out) about every `every` tokens and at the end; stops early when `cancelled`.
// The context is cropped to the model's positions. Returns the whole text.
Result<std::string> generateText(const GeneratorWeights& model, const Tokenizer& tokenizer, const GenerateText& request,
                                 const std::function<void(const std::string&)>& onText, const std::atomic<bool>& cancelled);

// Draws one id from logits (V) of the last position. random01 in [0, 1).
std::int64_t sampleToken(const at::Tensor& logits, const GenerateText& request, double random01);

}  // namespace stepscope
