// LinearCrossEntropy: the head of a language model and its loss as one operation, forwards and backwards. Logits exist only as a tile in the
// first-level cache; what is kept of them, for a bounded number of rows (a piece), is e = exp(logit - reference), because the sum of a row is
// known only at its end. With n = the number of rows, s = the label smoothing and V = the vocabulary:
//   loss    = log(sum) + reference - (1 - s) logit_target - s / V * (sum over v of logit_v)
//   dHidden = (sum over v of e_v W_v) / sum - (1 - s) W_target - s / V * (sum over v of W_v)     at once, tile after tile of the vocabulary
//   dW_v    = sum over rows of e_v (hidden / sum) - (1 - s) (rows whose target is v) - s / V * (sum of all rows)     after all tiles of a piece
//
// Knows no threads: the caller runs each phase for every worker, on as many threads as it likes, and starts no phase before the one before is over:
// pack, sumWeights (with smoothing only), then for each piece rows and weightGradient. Users: core/step on its Team, core/fused on LibTorch's.
#pragma once
#include <vector>

#include "core/base/Share.h"
#include "core/kernels/gemm/PackedLinear.h"
#include "core/kernels/linear_cross_entropy/LinearCrossEntropyCpu.h"

namespace stepscope {

struct LinearCrossEntropyShape {
    gemm::Element element = gemm::Element::F32;  // of operands of matrix products; sums are float32
    std::int64_t width = 0, vocabulary = 0;      // ids that can occur; further rows of the weights are not looked at
    std::vector<Share> rows;                     // of each worker
    bool gradients = true;                       // false: buffers for the loss alone
    std::int64_t keptBytes = 52'000'000;         // of exponentials, for the rows of a piece of all workers together
};

// What a call works on; `hidden` and `targets` begin with the first row of the first worker.
struct LinearCrossEntropyInput {
    const void* hidden = nullptr;           // elements
    std::int64_t stride = 0;                // elements from row to row, a whole number of words
    const std::int64_t* targets = nullptr;  // each in [0, vocabulary): not checked here
    const float* weight = nullptr;          // (vocabulary, width)
    float smoothing = 0;
    float scale = 1;  // of the gradients, usually 1 / n
    bool gradients = true;
};

class LinearCrossEntropy {
public:
    explicit LinearCrossEntropy(LinearCrossEntropyShape shape);

    // Takes every buffer from the arena: first from one that counts, then from one that hands out.
    void place(Arena& arena);

    // The weights' operands: filled by pack(), or by the caller. A worker packs a part of the rows.
    const gemm::PackedLinear& weights() const { return m_weights; }
    void pack(int worker, const float* weight);
    void sumWeights(int worker, const float* weight);

    int workers() const { return static_cast<int>(m_shape.rows.size()); }
    int pieces() const { return m_pieces; }
    // The rows of a worker in a piece, to be taken in blocks of at most rowBlock() rows from its first on.
    Share rowsOf(int worker, int piece) const;
    std::int64_t rowBlock() const { return m_rowBlock; }

    // Returns the sum of the losses of `rows`, which are of this piece. With gradients: dHidden(worker) is their gradient, float32 (rows, width),
    // until the next call; `low` gets the same as elements unless absent.
    double rows(int worker, int piece, Share rows, const LinearCrossEntropyInput& in, void* low = nullptr);
    float* dHidden(int worker) const { return m_own[static_cast<std::size_t>(worker)].dHidden; }

    // A worker's part of gradient (vocabulary, width) becomes the piece's, or gets it added. Done for every worker before the next piece's rows.
    void weightGradient(int worker, int piece, const LinearCrossEntropyInput& in, bool add, float* gradient);

private:
    struct Own {  // buffers of a worker
        std::byte *lowered = nullptr, *probabilities = nullptr, *scaled = nullptr;
        float *dHidden = nullptr, *reference = nullptr, *sums = nullptr, *sum = nullptr, *target = nullptr, *spread = nullptr;
    };

    std::int64_t steps(std::int64_t extent) const { return gemm::steps(m_shape.element, extent); }
    std::int64_t firstStep(int worker, int piece) const;
    Share vocabularyOf(int worker) const;

    LinearCrossEntropyShape m_shape;
    const gemm::Kernels& m_gemm;
    const gemm::Packers& m_packers;
    const LinearCrossEntropyTable& m_cpu;
    int m_pieces = 1;
    std::int64_t m_pieceRows = 0, m_rowBlock = 0;
    std::int64_t m_steps = 0;  // of all workers' rows of a piece
    gemm::PackedLinear m_weights;
    float* m_weightSum = nullptr;
    std::uint32_t* m_probabilities = nullptr;  // tiles of the vocabulary, each (m_steps, tile width)
    std::uint32_t* m_scaled = nullptr;         // panels(width) of m_steps
    std::vector<Own> m_own;
};

}  // namespace stepscope
