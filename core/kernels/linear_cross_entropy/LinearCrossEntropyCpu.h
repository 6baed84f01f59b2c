// What linear + cross-entropy does beside matrix products, over raw pointers: the logits' tile while it is in cache, and the rows around it. Elements
// (E) are float32 or bf16 by gemm::Element. Called by LinearCrossEntropy; one thread a call, chosen for the instruction set at run time.
#pragma once
#include "core/kernels/gemm/Gemm.h"

namespace stepscope {

// A tile of logits becomes exp(logit - reference), unnormalised: a bf16 keeps float32's range, so a reference taken from a row's first
// columns holds until a logit exceeds it by kLift; then everything of that row is scaled down (Milakov and Gimelshein 2018, made lazy).
struct LogitsTile {
    std::int64_t firstColumn = 0;     // of the vocabulary, of the product's column 0
    std::int64_t tileWidth = 0;       // columns reserved in `rowMajor` and `paired`
    void* rowMajor = nullptr;         // E (rows, tileWidth): operand of the gradient of the hidden state; nullptr when only the loss is wanted
    std::uint32_t* paired = nullptr;  // words (steps(rows), tileWidth): operand of the gradient of the head
    const std::int64_t* targets = nullptr;
    float* reference = nullptr;  // per row; set in column 0 of the vocabulary
    float* sum = nullptr;        // per row kSumLanes partial sums of exp(logit - reference)
    float* target = nullptr;     // per row, the logit of the target
    // Called when a row's reference must be lifted: everything already stored for `row` is multiplied by `factor`.
    void (*lift)(void* owner, std::int64_t row, float factor) = nullptr;
    void* owner = nullptr;

    static constexpr float kLift = 40.0f;
    static constexpr std::int64_t kSumLanes = 16;
};

// From what the tiles left to gradients, for rows [0, rows):
//   dHidden = dHidden * scale - less * table[target] - spread * tableSum, scale = share / sum; `low` gets it as E
//   scaled  = hidden * scale, E
struct FinishedRows {
    const void* hidden = nullptr;
    std::int64_t hiddenStride = 0;
    const float* sum = nullptr;
    const std::int64_t* targets = nullptr;
    const float *table = nullptr, *tableSum = nullptr;  // tableSum: absent when spread is 0
    std::int64_t rows = 0, width = 0;
    float share = 1, less = 1, spread = 0;
    float* dHidden = nullptr;  // (rows, width)
    void* low = nullptr;       // (rows, width), may be absent
    void* scaled = nullptr;
    std::int64_t scaledStride = 0;
};

struct LinearCrossEntropyTable {
    gemm::TileFunction logits;  // LogitsTile
    void (*finish)(const FinishedRows& rows);
    // E <- float32
    void (*lower)(const float* from, std::int64_t count, void* to);
    // to[c] = the sum over rows of from (rows, columns) as E would hold them
    void (*sumLowered)(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to);
    float (*dot)(const void* elements, const float* with, std::int64_t count);
    // to[c] += factor * from[c]
    void (*addElements)(const void* from, std::int64_t count, float factor, float* to);
    void (*add)(const float* from, std::int64_t count, float factor, float* to);
};
const LinearCrossEntropyTable& linearCrossEntropyCpu(gemm::Element element);

}  // namespace stepscope
