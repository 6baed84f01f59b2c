// StepEngine: one training step of a GPT planned ahead: every buffer allocated once, the backward pass written by hand, weights
// repacked inside the AdamW pass, no autograd. Torch-free; works over flat float32 buffers of the caller's. Driven by PlannedProgram
// on the trainer thread; the workers of its Team share the rows of a batch.
//
// Rows are tokens, (batch, context) flattened. Workers own ranges of rows; when those are whole sequences, a worker runs through all layers without
// waiting for the others. Operands of matrix products are E (bf16 or float32), everything else float32. Options of the model are data: absent
// parameters are null pointers, and what differs more is chosen once, when the engine is made.
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "core/base/Arena.h"
#include "core/base/OperationSpan.h"
#include "core/base/Share.h"
#include "core/kernels/adamw/AdamWCpu.h"
#include "core/kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "core/kernels/residual_norm/ResidualNormCpu.h"
#include "core/step/StageWork.h"
#include "core/step/StepKernels.h"
#include "core/step/StepShape.h"
#include "core/step/Team.h"

namespace stepscope {

struct BranchPlan;
struct BranchDeltas;
struct NormPlan;

struct StepBuffers {
    float *weights = nullptr, *firstMoment = nullptr, *secondMoment = nullptr;
    // Of all parameters those that the moments are of, and that are updated; the others come from other workers.
    std::int64_t begin = 0, end = std::numeric_limits<std::int64_t>::max();
};

struct MicroBatch {
    const std::int64_t *ids = nullptr, *targets = nullptr;  // (batch, context)
    bool first = true;                                      // of an update: its gradients replace the old ones instead of being added
    double share = 1;                                       // 1 / number of micro-batches
    std::uint64_t seed = 0, update = 1;                     // key of the dropped elements (core/base/DropoutMask.h), with
    std::int64_t firstSequence = 0;                         //   the place of these sequences among all of the update
    // Of the last micro-batch of an update, or null: called by worker 0, while the others go on, when the gradients of a layer's matrices are final;
    // `layers` is the head's own. Embeddings, biases and norms are final when accumulate() returns. Must not throw.
    const std::function<void(std::int64_t layer)>* layerIsFinal = nullptr;
    // Or null: called by worker 0, which is the thread that calls accumulate(), when its forward pass is done. Must not throw.
    const std::function<void()>* backwardBegins = nullptr;
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
    void pack(const float* weights);

    // Adds one micro-batch to the gradients. Returns the mean loss in nats, before multiplication with the share.
    double accumulate(const float* weights, const MicroBatch& batch);
    // The mean loss alone, without dropout and smoothing.
    double evaluate(const float* weights, const std::int64_t* ids, const std::int64_t* targets);
    // Global L2 norm of the gradients.
    double gradientNorm();
    // Clip + AdamW + packing in one pass over memory. `decaying`: of the matrices; biases and norms keep their size. Of a part of the parameters
    // nothing is packed: pack() does that when the others are there.
    void update(const StepBuffers& buffers, const AdamWStep& decaying);

    float* gradients() const;  // (size)
    const StepParameters& parameters() const { return m_parameters; }

private:
    struct Plan;  // every buffer
    using RowStage = void (StepEngine::*)(int worker, std::int64_t layer, std::int64_t row, std::int64_t n);

    void place(Arena& arena);
    void placeLayers(Arena& arena);
    void placeMembers(Arena& arena);

    // Stages, each for one worker's rows, or for the n rows from `row` on.
    void embed(int worker);
    void blockForward(int worker, std::int64_t layer);
    void blockBackward(int worker, std::int64_t layer);
    std::int64_t attentionScratch() const;  // bytes
    void attentionForward(int worker, std::int64_t layer);
    void attentionBackward(int worker, std::int64_t layer);
    double head(int worker);
    void weightGradients(int worker, std::int64_t layer);
    void embeddingGradients(int worker);
    void reduceVectors(int worker);

    // BranchStage: from the residual stream into a branch and back.
    void enterBranch(int worker, const BranchPlace& place, const BranchPlan& branch, std::int64_t row, std::int64_t n);
    void leaveBranch(const BranchPlace& place, const BranchPlan& branch, std::uint64_t site, const std::byte* from, std::int64_t stride,
                     std::int64_t row, std::int64_t n);
    void leaveBranchBackward(int worker, const BranchPlace& place, const BranchPlan& branch, const BranchDeltas& deltas, std::uint64_t site,
                             std::int64_t row, std::int64_t n);
    void enterBranchBackward(int worker, const BranchPlace& place, const BranchPlan& branch, const std::byte* delta, std::int64_t stride,
                             std::int64_t row, std::int64_t n);
    void normForward(const NormPlace& place, const NormPlan& norm, std::int64_t row, std::int64_t n, std::byte* out);
    void normBackward(int worker, const NormPlace& place, const NormPlan& norm, const float* gradient, const float* along, std::int64_t row,
                      std::int64_t n);

    // ActivationStage: own.normed -> own.activated, and own.delta -> own.dExpanded.
    void gelu(int worker, std::int64_t layer, std::int64_t row, std::int64_t n);
    void geluBackward(int worker, std::int64_t layer, std::int64_t row, std::int64_t n);
    void swiglu(int worker, std::int64_t layer, std::int64_t row, std::int64_t n);
    void swigluBackward(int worker, std::int64_t layer, std::int64_t row, std::int64_t n);

    // Queries and keys of rows turned by their positions, or back. No-op without RoPE.
    void rotate(std::byte* qkv, bool back, std::int64_t row, std::int64_t n) const;

    // One operation over a worker's rows: run(row, n) for blocks that stay in the second-level cache. `work` is what StageWork says of so many rows.
    template <class Run>
    void overRowBlocks(const char* name, Role role, int worker, OperationWork (StageWork::*work)(std::int64_t) const, Run run) {
        const Share rows = rowsOf(worker);
        const OperationSpan span(name, role, worker, [&] { return (StageWork(m_shape).*work)(rows.size()); });
        for (std::int64_t row = rows.begin; row < rows.end; row += m_rowBlock) run(row, std::min(m_rowBlock, rows.end - row));
    }

    Share rowsOf(int worker) const;
    std::vector<Share> allRows() const;
    void meetUnlessWhole();
    void tellFinal(int worker, std::int64_t layer) const;
    bool drops() const { return m_training && m_shape.dropout > 0; }
    step::Dropout dropoutAt(std::uint64_t site, std::int64_t row) const;
    const float* weightsAt(std::int64_t offset) const { return offset == kAbsent ? nullptr : m_weights + offset; }
    float* vectorAt(int worker, std::int64_t offset) const;  // a worker's part of the gradient of a bias or norm

    StepShape m_shape;
    StepParameters m_parameters;
    const gemm::Kernels& m_gemm;
    const gemm::Packers& m_packers;
    const step::Kernels& m_rows;
    Team m_team;
    bool m_whole = false;  // workers own whole sequences
    LinearCrossEntropy m_head;
    RowStage m_activate = nullptr, m_activateBackward = nullptr;
    std::int64_t m_rowBlock = 32;  // rows worked on at a time, so that they stay in the second-level cache
    std::int64_t m_bytes = 0;
    std::unique_ptr<Plan> m_plan;

    // What the call in progress works on.
    const float* m_weights = nullptr;
    MicroBatch m_batch;
    bool m_training = false;
};

}  // namespace stepscope
