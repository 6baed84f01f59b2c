// GptConfig: the shape of a GPT. The defaults are GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"):
// pre-norm blocks, learned positions, GELU(tanh), tied head. The options change what is computed, so they are part of a checkpoint.
#pragma once
#include <cstdint>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

enum class NormKind { LayerNorm, RmsNorm };
enum class NormPlacement { Pre, Post };  // post: x = norm(x + branch), and no norm after the last block (Vaswani et al. 2017)
enum class Activation { Gelu, Swiglu };
enum class PositionKind { Learned, Rope };  // RoPE: Su et al. 2021

struct GptConfig {
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t width = 128;
    std::int64_t vocabulary = 256;        // ids that can occur
    std::int64_t paddedVocabulary = 256;  // rows of the embedding, >= vocabulary; rows beyond it are zero and get no probability
    std::int64_t positions = 128;         // longest context; rows of the position table where there is one
    bool splitQkv = false;                // three projections instead of one
    Activation activation = Activation::Gelu;
    bool tiedHead = true;  // the head is the embedding
    NormPlacement placement = NormPlacement::Pre;
    NormKind norm = NormKind::LayerNorm;
    PositionKind positionKind = PositionKind::Learned;
    bool bias = true;  // of linears and of LayerNorm; RMSNorm never has one

    bool operator==(const GptConfig&) const = default;
    std::int64_t headWidth() const { return width / heads; }
    bool normBias() const { return bias && norm == NormKind::LayerNorm; }
    // Width of the MLP's hidden layer: 4C for GELU. SwiGLU has three matrices instead of two, so 8C/3, rounded to the nearest multiple
    // of 64 (of 8 below width 512), holds the same number of parameters (Shazeer 2020).
    std::int64_t hidden() const;
    // Rows of the first matrix of the MLP: hidden(), or twice that for SwiGLU's gate and value.
    std::int64_t hiddenRows() const { return activation == Activation::Swiglu ? 2 * hidden() : hidden(); }
};

// The shape that the keys of the model section ask for, unpadded, with one position. vocabulary: ids that can occur.
GptConfig gptConfig(const RunConfig& config, std::int64_t vocabulary);

// The first key of the configuration in which two models cannot share weights ("layers", "activation"); empty = they can.
// Padding and the number of positions are conversions, not differences.
std::string differingKey(const GptConfig& a, const GptConfig& b);

}  // namespace stepscope
