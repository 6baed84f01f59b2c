// StepPlan: every buffer of a StepEngine, laid out once. N rows, C width, V vocabulary; E = bf16 or float32; "words" as in Gemm.h.
// *Pairs are operands for products that sum over rows (weight gradients): panels of 32 columns, steps(N) words each.
#pragma once
#include "core/step/StepEngine.h"

#include <cstddef>

namespace stepscope {

// Elements as the words that an operand A is made of.
inline const std::uint32_t* wordsOf(const std::byte* elements) { return reinterpret_cast<const std::uint32_t*>(elements); }

struct LayerPlan {
    gemm::PackedLinear qkv, projection, expand, contract;
    float *input = nullptr, *middle = nullptr;                               // residual stream before each half, (N, C)
    float *mean1 = nullptr, *inverse1 = nullptr, *mean2 = nullptr, *inverse2 = nullptr;  // (N)
    float* logSum = nullptr;                                                 // (batch, heads, context)
    std::byte* qkvRows = nullptr;                                            // (N, 3C) E
    std::byte* expandedRows = nullptr;                                       // (N, 4C) E, before GELU
    std::uint32_t *norm1Pairs = nullptr, *attendedPairs = nullptr, *norm2Pairs = nullptr, *activatedPairs = nullptr;
};

// Gradients of one layer's linear outputs. Two sets taken in turn: while one member still multiplies those of a layer, another may write the next.
struct DeltaPlan {
    std::uint32_t *contract = nullptr, *expand = nullptr, *projection = nullptr, *qkv = nullptr;
};

struct StepEngine::Plan {
    std::vector<LayerPlan> layers;
    float* gradients = nullptr;  // (size)
    float *output = nullptr, *mean = nullptr, *inverse = nullptr;
    std::byte* hidden = nullptr;                // (N, C) E after the last norm
    std::byte* attended = nullptr;              // (N, C) E; in the backward pass its gradient
    std::byte* dQkv = nullptr;                  // (N, 3C) E
    float* dx = nullptr;                        // (N, C) gradient of the residual stream
    DeltaPlan deltas[2];
    struct Member {
        std::byte *normed = nullptr, *delta = nullptr, *activated = nullptr;  // row blocks, E
        float* gradient = nullptr;                                           // row block, (rows, C)
        // attention's, for one head of one sequence
        std::uint32_t *keysTransposed = nullptr, *valuesTransposed = nullptr, *keyPairs = nullptr, *valuePairs = nullptr;
        std::uint32_t *queryPairs = nullptr, *outPairs = nullptr, *weightPairs = nullptr, *scorePairs = nullptr;
        float *scores = nullptr, *dWeights = nullptr, *dKeys = nullptr, *dValues = nullptr;
        std::byte *weights = nullptr, *dScores = nullptr, *rows = nullptr;
        // gradients of biases and norms, and a block of new weights
        float* vectors = nullptr;
        std::byte* low = nullptr;
    };
    std::vector<Member> members;
    std::vector<double> partial;  // per member

    static constexpr std::int64_t kQueryRows = 64;    // queries worked on at a time
};

}  // namespace stepscope
