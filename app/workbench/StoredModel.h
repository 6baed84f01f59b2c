// StoredModel: a trained model to use as it is, for text, for its loss, for other programs: of a checkpoint, or of what another program wrote (a
// folder of Hugging Face's transformers, llm.c's file). Read on the thread that asks.
#pragma once
#include <memory>
#include <string>

#include "core/data/tokenizers/Tokenizer.h"
#include "core/events/RunConfig.h"
#include "core/model/ParameterLayout.h"
#include "core/state/foreign/TensorSource.h"

namespace stepscope {

struct StoredModel {
    std::string place;
    RunConfig config;  // of its run; of a foreign one the defaults, with the tokenizer's name
    bool foreign = false;
    GptConfig model;                             // without padding
    std::shared_ptr<const Tokenizer> tokenizer;  // null: there is none
    std::string whyNoTokenizer;                  // then a sentence
    std::unique_ptr<TensorSource> tensors;
};

// Opens it and checks what can be checked before memory is taken; a checkpoint's weights are hashed, so describe first what needs none.
Result<StoredModel> openStoredModel(const std::string& path);

struct ModelWeights {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;
};
Result<ModelWeights> weightsOf(const StoredModel& model);

// Said of weights whose loss is no number.
Error giveNoNumbers(const std::string& place);

}  // namespace stepscope
