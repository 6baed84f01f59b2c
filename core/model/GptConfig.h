// GptConfig: the shape of a GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"): pre-norm blocks,
// learned positions, GELU(tanh), tied head.
#pragma once
#include <cstdint>

namespace stepscope {

enum class NormKind { LayerNorm, RmsNorm };

struct GptConfig {
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t width = 128;
    std::int64_t vocabulary = 256;        // ids that can occur
    std::int64_t paddedVocabulary = 256;  // rows of the embedding, >= vocabulary; rows beyond it are zero and get no probability
    std::int64_t positions = 128;         // rows of the position table, >= any context in use

    bool operator==(const GptConfig&) const = default;
    std::int64_t headWidth() const { return width / heads; }
};

}  // namespace stepscope
