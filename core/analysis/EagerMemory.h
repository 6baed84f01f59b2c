// EagerMemory: what eager execution takes and gives back during one step, operation by operation, as LibTorch's autograd does it:
// what forward keeps for backward, the temporaries of each operation, and when each goes. Used by the prediction of memory.
#pragma once
#include "core/analysis/AllocationTrace.h"
#include "core/events/RunConfig.h"

#include <cstdint>
#include <vector>

namespace stepscope {

class EagerMemory {
public:
    // config: complete. vocabulary: rows of the embedding. The trace outlives this.
    EagerMemory(const RunConfig& config, std::int64_t vocabulary, AllocationTrace& trace);

    // What lasts, then one whole step: every micro-batch that differs from the one before it, and the update.
    void run();

    double parameters() const { return m_parameters; }

private:
    using Block = AllocationTrace::Block;
    static constexpr Block kNone = AllocationTrace::kNone;

    // What one block of the model keeps between forward and backward; kNone where there is nothing.
    struct Layer {
        Block sum1 = kNone, norm1 = kNone, low1 = kNone, moments1 = kNone, qkv = kNone, heads = kNone, table = kNone, out = kNone, sums = kNone;
        Block sum2 = kNone, norm2 = kNone, low2 = kNone, moments2 = kNone, fc = kNone, activated = kNone;
        std::vector<Block> castWeights;
    };

    Block take(MemoryKind kind, double bytes) { return m_trace.take(kind, bytes); }
    void drop(Block& block) { m_trace.drop(block); }

    void forward();
    void forwardAttention(Layer& layer);
    void forwardLoss();
    void backward();
    void backwardLoss();
    void backwardMlp(Layer& layer);
    void backwardAttention(Layer& layer);
    // Gradient of a matrix: computed in the products' type, added or moved into its place.
    void weightGradient(double elements, Block& place);
    void update();

    AllocationTrace& m_trace;
    double m_n, m_context, m_width, m_layers, m_heads, m_vocabulary;  // m_n: tokens of a micro-batch
    double m_parameters = 0;
    double m_element;  // bytes of an activation in the products' type
    bool m_low, m_manual, m_math, m_keepGradients;
    std::int64_t m_microBatches;
    std::string m_optimizer;
    double m_batchBlocks;

    std::vector<Layer> m_layer;
    Block m_finalSum = kNone, m_finalNorm = kNone, m_finalLow = kNone, m_castHead = kNone, m_logProbabilities = kNone;
    Block m_gradient = kNone;  // of the residual stream
    struct Gradients {
        Block qkv = kNone, projection = kNone, fc = kNone, fcProjection = kNone;
    };
    std::vector<Gradients> m_gradients;
    Block m_headGradient = kNone, m_positionGradient = kNone, m_vectorGradients = kNone;
};

}  // namespace stepscope
