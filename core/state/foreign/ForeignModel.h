// ForeignModel: weights that another program wrote, whatever their files are: a safetensors file, a folder of Hugging Face's transformers
// (config.json, one or many safetensors files, vocab.json and merges.txt), or llm.c's .bin. Opened by --init, and by generate, eval and checkpoint
// export to use them as they are. Never a pickle: what it holds is a program, and nobody reads it here.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/data/tokenizers/Tokenizer.h"
#include "core/model/GptConfig.h"
#include "core/state/foreign/TensorSource.h"

namespace stepscope {

struct ForeignModel {
    std::string place;  // as it was given
    std::unique_ptr<TensorSource> tensors;
    std::optional<GptConfig> model;  // where the files tell all of it, its positions included; a lone safetensors file does not
    std::string tokenizer;           // folder with vocab.json and merges.txt, or tokenizer.json; empty: none
    bool gpt2Ids = false;            // the ids are those of GPT-2's own vocabulary
    std::string whyNoTokenizer;      // where there is neither, a sentence
};

// Whether a path is of those that tell all of their model: a folder, or llm.c's file.
bool tellsItsModel(const std::string& path);

// Opens and maps. Where the files tell the model, every tensor of it is there, in its shape and of a type that weights have, and a tied head is no
// other than the table; what else the files hold is not looked at. Errors name the file and what contradicts what.
Result<ForeignModel> openForeignModel(const std::string& path);

// The tokenizer that came with it, or that such files are always of: llm.c's with GPT-2's number of ids are GPT-2's. null: there is none.
// `documents`: whether the token between documents is one wherever a text has it.
Result<std::shared_ptr<const Tokenizer>> tokenizerOf(const ForeignModel& model, bool documents);

// Whether each tensor of `model` is in the source as the model has it. `place` is for the sentence.
Status holdsModel(const TensorSource& source, const GptConfig& model, const std::string& place);

}  // namespace stepscope
