// StepEngine: one training step of the plain GPT-2 planned ahead: every buffer allocated once, the backward pass written by hand, weights
// repacked inside the AdamW pass, no autograd. Torch-free; works over flat float32 buffers of the caller's. Driven by PlannedProgram
// on the trainer thread; the members of its Team share the rows of a batch.
//
// Rows are tokens, (batch, context) flattened. Members own ranges of rows; when those are whole sequences, a member runs through all layers without
// meeting the others. Operands of matrix products are E (bf16 or float32), everything else float32.
#pragma once
#include "core/base/Arena.h"
#include "core/base/Share.h"
#include "core/kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "core/step/StepKernels.h"
#include "core/step/StepShape.h"
#include "core/step/Team.h"

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace stepscope {

// Where the parameters lie in a flat buffer of `size` floats.
struct StepParameters {
    std::int64_t size = 0;
    std::int64_t decayEnd = 0;  // [0, decayEnd) decays
    std::int64_t tokens = 0, positions = 0, positionRows = 0;  // tables (paddedVocabulary, width), (positionRows, width)
    std::vector<BlockPlace> blocks;
    NormPlace norm;
};
struct StepBuffers {
    float *weights = nullptr, *firstMoment = nullptr, *secondMoment = nullptr;
};

struct StepOptimizer {
    double rate = 0, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0;
    std::int64_t t = 1;
    double maxNorm = 0;  // 0 = no clipping
};

class StepEngine {
public:
    StepEngine(const StepShape& shape, StepParameters parameters);
    ~StepEngine();

    // Bytes that plan() needs.
    std::int64_t bytes() const { return m_bytes; }
    // Places all buffers in `block` (bytes(), 4 KiB aligned) and clears what must start as zero. Once.
    void plan(void* block);

    // Packs all weights; needed before the first step and whenever somebody else changed them.
    void pack(const StepBuffers& buffers);

    // Adds one micro-batch to the gradients (replaces them when `first`); share = 1 / number of micro-batches. ids, targets: (batch, context).
    // Returns the mean loss in nats, before multiplication with the share. marks[0], marks[1]: time in ns of the forward and backward pass.
    double accumulate(const StepBuffers& buffers, const std::int64_t* ids, const std::int64_t* targets, bool first, double share,
                      std::array<std::int64_t, 2>& marks);
    // The mean loss alone.
    double evaluate(const StepBuffers& buffers, const std::int64_t* ids, const std::int64_t* targets);
    // Global L2 norm of the gradients.
    double gradientNorm();
    // Clip + AdamW + packing in one pass over memory. `norm`: what gradientNorm() gave, ignored when not clipping.
    void update(const StepBuffers& buffers, const StepOptimizer& optimizer, double norm);

    const float* gradients() const;  // (size), for tests
    const StepParameters& parameters() const { return m_parameters; }

private:
    struct Plan;    // every buffer

    void place(Arena& arena);
    void forward(int member, const StepBuffers& buffers, const std::int64_t* ids, bool keep);
    void blockForward(int member, const StepBuffers& buffers, std::int64_t layer, bool keep);
    void attentionForward(int member, std::int64_t layer);
    double head(int member, const StepBuffers& buffers, const std::int64_t* targets, bool train, bool first, double share);
    void blockBackward(int member, const StepBuffers& buffers, std::int64_t layer, bool first);
    void attentionBackward(int member, std::int64_t layer);
    void weightGradients(int member, std::int64_t layer, bool first);
    void embeddingGradients(int member, const std::int64_t* ids, bool first);
    void reduceVectors(int member);

    Share rowsOf(int member) const;
    std::vector<Share> allRows() const;
    void meetUnlessWhole();

    StepShape m_shape;
    StepParameters m_parameters;
    const gemm::Kernels& m_gemm;
    const gemm::Packers& m_packers;
    const step::Kernels& m_rows;
    Team m_team;
    bool m_whole = false;            // members own whole sequences
    LinearCrossEntropy m_head;
    std::int64_t m_rowBlock = 32;    // rows worked on at a time, so that they stay in the second-level cache
    std::int64_t m_bytes = 0;
    std::unique_ptr<Plan> m_plan;
};

}  // namespace stepscope
