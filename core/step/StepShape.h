// StepShape: all that a planned step depends on, torch-free: sizes, the options of the model, and where its parameters lie. Made by PlannedProgram
// from GptConfig and the switches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/kernels/gemm/Gemm.h"

namespace stepscope {

struct StepShape {
    std::int64_t layers = 1, heads = 1, width = 32;
    std::int64_t hidden = 128;      // width inside the MLP
    std::int64_t vocabulary = 256;  // ids that can occur
    std::int64_t batch = 1, context = 1;
    gemm::Element element = gemm::Element::Bf16;  // of operands of matrix products; sums, residual stream and statistics are float32
    int workers = 1;                              // threads

    bool gated = false;     // SwiGLU instead of GELU: the MLP's first matrix holds `hidden` gates, then as many values
    bool splitQkv = false;  // three projections instead of one
    bool rms = false;       // RMSNorm instead of LayerNorm
    bool postNorm = false;  // x = norm(x + branch) instead of x + branch(norm(x)), and no norm after the last block
    double rotaryBase = 0;  // of RoPE; 0 = none
    double dropout = 0;     // of the embedding and of what each branch adds, in training
    double smoothing = 0;   // of the labels, in training

    std::int64_t rows() const { return batch * context; }
    std::int64_t headWidth() const { return width / heads; }
    std::int64_t hiddenRows() const { return gated ? 2 * hidden : hidden; }
    // Queries, keys and values are three parts of one row. A part of its own product begins with a whole word.
    std::int64_t partColumns() const { return splitQkv ? steps(width) * gemm::perWord(element) : width; }
    std::int64_t steps(std::int64_t extent) const { return gemm::steps(element, extent); }
    std::int64_t bytes(std::int64_t elements) const { return elements * gemm::bytesOf(element); }
    // Elements between rows of a row-major activation: whole cache lines, and never a multiple of 4 KiB, where eight rows would
    // fight for the same sets of the first-level cache.
    std::int64_t leading(std::int64_t columns) const {
        const std::int64_t padded = (columns + 31) / 32 * 32;
        return bytes(padded) % 4096 == 0 ? padded + 32 : padded;
    }
};

// Places in one flat float32 buffer; offsets in elements. Weights, both moments and gradients share it.
constexpr std::int64_t kAbsent = -1;  // the model has no such parameter
struct LinearPlace {
    std::int64_t out = 0, in = 0;  // weight (out, in), row-major
    std::int64_t weight = 0, bias = kAbsent;
};
struct NormPlace {
    std::int64_t weight = kAbsent, bias = kAbsent;
};
// Half of a block: attention or the MLP.
struct BranchPlace {
    NormPlace norm;
    std::vector<LinearPlace> in;  // queries, keys and values in one or in three; what the activation follows
    LinearPlace out;              // back to the residual stream
};
struct BlockPlace {
    BranchPlace attention, feedForward;
};
struct StepParameters {
    std::int64_t size = 0;
    std::int64_t decayEnd = 0;                           // [0, decayEnd) decays
    std::int64_t tokens = 0, head = 0;                   // tables (vocabulary, width); the same one when tied
    std::int64_t positions = kAbsent, positionRows = 0;  // (positionRows, width)
    std::vector<BlockPlace> blocks;
    NormPlace norm;
};

}  // namespace stepscope
