// WeightsExport: weights written for other programs: a folder that GPT2LMHeadModel.from_pretrained of Hugging Face's transformers reads, or llm.c's
// file. Whole or not there: written beside its place as a checkpoint is, a tensor at a time. Called by `checkpoint export` on its thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/data/tokenizers/Tokenizer.h"
#include "core/model/GptConfig.h"
#include "core/state/foreign/TensorSource.h"

namespace stepscope {

enum class WeightsFormat { HuggingFace, Llmc };

struct WeightsExport {
    TensorSource* tensors = nullptr;  // of `model`
    std::string place;                // of them: for sentences, and never replaced
    GptConfig model;
    const Tokenizer* tokenizer = nullptr;  // null: none is known
    std::string whyNoTokenizer;            // then a sentence; empty: of a run on ready tokens
    double dropout = 0;                    // that the run trained with; for the description alone
    WeightsFormat format = WeightsFormat::HuggingFace;
    bool bf16 = false;
    std::int64_t shardBytes = 5'000'000'000;  // of the tensors of one safetensors file at most, unless one tensor takes more
    bool force = false;                       // takes the place of an export that is there
};

struct ExportedFile {
    std::string name;
    std::int64_t bytes = 0;
};
struct ExportedWeights {
    std::vector<ExportedFile> files;
    std::vector<std::string> notes;  // what was left out, and what is written in another form: sentences
};

// Why a GPT-2 of that format cannot be this model, by the names of our settings, and what could be done; empty = it can.
std::string whyNotExported(const GptConfig& model, WeightsFormat format);

// Unsupported: whyNotExported. BadInput: the folder is there already; with force, it is no folder or holds what no export writes. Io: the disk.
Result<ExportedWeights> exportWeights(const WeightsExport& wanted, const std::string& folder, const std::atomic<bool>& cancelled);

}  // namespace stepscope
