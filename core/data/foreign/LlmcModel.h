// Weights of a GPT-2 as llm.c writes them (.bin): 256 int32 of header, then tensors of all layers together, in float32 or bfloat16. What the header
// says is compared with the file's size before anything is made of it. Torch-free; core/state/foreign reads the data. Any thread.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/Result.h"
#include "core/data/SafeTensorsHeader.h"
#include "core/data/foreign/Gpt2Sizes.h"

namespace stepscope {

inline constexpr std::int32_t kLlmcModelMagic = 20240326;
inline constexpr std::size_t kLlmcHeaderBytes = 1024;

struct LlmcModel {
    Gpt2Sizes sizes;
    std::int64_t paddedVocabulary = 0;
    bool bf16 = false;
    std::map<std::string, TensorEntry> tensors;  // by GPT-2's names; places are of the file, linear weights (out, in), the table without padding
};

// Whether a file begins as llm.c's weights do.
bool beginsAsLlmcModel(std::string_view bytes);

// `header`: the first kLlmcHeaderBytes. Versions 2 and 3 (float32, bfloat16), and the later 3 and 5 of the same with a padded vocabulary.
Result<LlmcModel> parseLlmcModel(std::string_view header, std::uint64_t fileBytes, const std::string& name);

// The header of such a file with a vocabulary padded to 128 rows, and the tensors in their order: each name stands for all layers.
std::string llmcHeader(const Gpt2Sizes& sizes, bool bf16);
std::int64_t llmcPaddedVocabulary(std::int64_t vocabulary);

struct LlmcGroup {
    const char* name;  // "attn.c_attn.weight" of every block, or the whole name of a tensor that is there once
    bool ofBlocks, linear;
};
const std::vector<LlmcGroup>& llmcGroups();

}  // namespace stepscope
