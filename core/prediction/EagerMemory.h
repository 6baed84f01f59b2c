// EagerMemory: what eager execution takes and gives back during one step, operation by operation, as LibTorch's autograd does it:
// what forward keeps for backward, the temporaries of each operation, and when each goes. Where a GPU's operations differ, theirs are derived from
// their sources: no GPU has measured them yet. Used by the prediction of memory.
#pragma once
#include <cstdint>
#include <vector>

#include "core/events/RunPlan.h"
#include "core/prediction/AllocationTrace.h"

namespace stepscope {

// Sizes that follow from a configuration and its data, as core/model lays them out.
struct ModelSizes {
    std::int64_t parameters = 0;
    std::int64_t vocabulary = 0;       // rows of the embedding
    std::int64_t hidden = 0;           // width inside the MLP
    std::int64_t hiddenRows = 0;       // outputs of its first linear: twice as many for a gated activation
    std::int64_t threads = 1;          // of the run: a planned step has memory for each
    std::int64_t cublasWorkspace = 0;  // bytes that LibTorch gives a cuBLAS handle on the run's GPU
    std::int64_t tokens = 0;           // ids of the data in all; 0 = not known before they are read
};

// What an optimizer that is not one pass over everything takes for itself during the update.
void playOptimizer(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace);
// Before it, where weights that are zero stay zero: the mask of one of the blocks' matrices, the largest at most (core/program/PhasedProgram.cpp).
void playMasks(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace);
// Bytes of all token ids on the run's GPU, where its batches are cut there (core/program/BatchFeed.cpp); each Program has its own. 0 elsewhere.
double tokensOnDevice(const RunPlan& plan, std::int64_t tokens);
// Batches that exist at a time: the one in use, and those that loader workers keep ready.
double batchesInMemory(const FeedSettings& feed);
// Tokens that validation has at a time: those of a micro-batch, or fewer where it reads fewer in all (StepProgram.h).
double validationRows(const RunPlan& plan);

class EagerMemory {
public:
    // The trace outlives this.
    EagerMemory(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace);

    // What lasts, then one whole step: every micro-batch that differs from the one before it, and the update.
    void run();

private:
    using Block = AllocationTrace::Block;
    static constexpr Block kNone = AllocationTrace::kNone;
    static constexpr double kFloat = 4, kId = 8;  // bytes

    // Of a residual sum and its norm.
    struct Norm {
        Block sum = kNone, scaled = kNone, normed = kNone, low = kNone, moments = kNone;
    };
    // What one block of the model keeps between forward and backward; kNone where there is nothing.
    struct Layer {
        Norm norm1, norm2;
        Block qkv = kNone, turned = kNone, heads = kNone, table = kNone, out = kNone, merged = kNone, sums = kNone;
        Block fc = kNone, gate = kNone, activated = kNone, mask1 = kNone, mask2 = kNone;
        std::vector<Block> castWeights;
    };

    Block take(MemoryKind kind, double bytes) { return m_trace.take(kind, bytes); }
    void drop(Block& block) { m_trace.drop(block); }

    void takeLasting();
    void forward();
    Block forwardLayer(Layer& layer);
    Block joinedStream(Block& branch);
    // Activation checkpointing: the layer's forward pass is run a second time in backward.
    bool isRunAgain(std::size_t layer) const { return m_blockAgain > 0 && static_cast<std::int64_t>(layer) % m_blockAgain == 0; }
    void keepOnlyInput(Layer& layer);
    void forwardNorm(Norm& norm);
    Block forwardBranch(MemoryKind kind, Block& mask);
    Block takeMask(MemoryKind kind);
    void forwardQkv(Layer& layer);
    void forwardAttention(Layer& layer);
    void forwardLoss();
    void forwardSoftmax(double rows);
    // With their gradients at once.
    void forwardChunks();
    void forwardFusedLoss();
    void forwardCudaLoss();
    void backward();
    void backwardLoss();
    Block backwardSoftmax(double rows);
    // From the gradient of a norm's output (in the products' type) to that of the residual stream before it.
    void backwardNorm(Norm& norm, Block& ofNormed);
    void backwardMlp(Layer& layer);
    void backwardAttention(Layer& layer);
    // Gradient of a matrix: computed in the products' type unless in float32 at once, added or moved into its place.
    void weightGradient(double elements, Block& place);
    void keepGradient(Block computed, Block& place);
    void update();
    void validate();

    AllocationTrace& m_trace;
    double m_n, m_context, m_width, m_layers, m_heads;  // m_n: tokens of a micro-batch
    double m_vocabulary, m_hidden, m_hiddenRows, m_parameters;
    double m_element;  // bytes of an activation in the products' type
    bool m_low, m_manual, m_math, m_keepGradients, m_tied, m_postNorm, m_rmsNorm, m_rope, m_dropout, m_smoothing;
    bool m_gpu, m_graph;  // m_graph: the step is captured
    bool m_fusedNorm, m_fusedLoss, m_fusedHeads, m_fusedQkv, m_fusedActivation,
        m_fusedEmbedding;   // operations of core/fused in the place of LibTorch's
    bool m_floatGradients;  // of the blocks' linears: core/fused/Linear.cpp
    bool m_wideSoftmax;     // attention's, which CUDA's autocast computes in float32
    bool m_keepsLow;        // the optimizer writes a copy of the matrices, which are then not cast
    bool m_attentionAgain, m_inBackward = false;
    bool m_splitQkv;
    bool m_mergesByCopy;        // attention's result does not lie as the projection takes it
    std::int64_t m_blockAgain;  // every k-th; 0 = none
    double m_chunk;             // rows of logits at a time; 0 = all
    bool m_validates;
    double m_validationRows;     // as m_n, when the model is validated
    double m_validationElement;  // as m_element, when the model is validated
    std::int64_t m_microBatches;
    RunPlan m_plan;
    ModelSizes m_sizes;

    std::vector<Layer> m_layer;
    Norm m_final;
    Block m_embeddingMask = kNone, m_castHead = kNone, m_logProbabilities = kNone, m_widened = kNone;
    Block m_gradient = kNone;        // of the residual stream
    Block m_hiddenGradient = kNone;  // of the head's input, where it is there before backward begins
    struct Gradients {
        Block qkv = kNone, projection = kNone, fc = kNone, fcProjection = kNone;
    };
    std::vector<Gradients> m_gradients;
    Block m_headGradient = kNone, m_embeddingGradient = kNone, m_positionGradient = kNone, m_vectorGradients = kNone;
};

}  // namespace stepscope
