// Sizes are in bytes; n = tokens of a micro-batch, C = width. Order and lifetimes follow core/model and
// core/program/EagerProgram.cpp; what LibTorch keeps is from its derivatives.yaml.
#include "core/prediction/EagerMemory.h"

#include <algorithm>
#include <utility>

namespace stepscope {

double batchesInMemory(const FeedSettings& feed) {
    return 1 + (feed.workers > 0 ? std::min(static_cast<double>(feed.workers + feed.prefetch), 1e4) : 0);
}

double validationRows(const RunPlan& plan) {
    const std::int64_t sequences = std::max<std::int64_t>(1, (plan.config.validationTokens + plan.context - 1) / plan.context);
    return static_cast<double>(std::min(plan.batchSize, sequences)) * static_cast<double>(plan.context);
}

void playOptimizer(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace) {
    constexpr double kFloat = 4;
    if (plan.optimizer == OptimizerKind::Foreach) trace.touch(MemoryKind::Scratch, kFloat * static_cast<double>(sizes.parameters));
    if (plan.optimizer != OptimizerKind::Loop) return;
    const double largest = static_cast<double>(std::max(sizes.vocabulary, sizes.hiddenRows)) * static_cast<double>(plan.config.width);
    AllocationTrace::Block root = trace.take(MemoryKind::Scratch, kFloat * largest);
    trace.touch(MemoryKind::Scratch, kFloat * largest);
    trace.drop(root);
}

void playMasks(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace) {
    if (plan.config.keepZeros != "on") return;
    // A byte a weight, of one matrix after the other: those of the MLP, and that of attention's three projections, which may be one.
    const std::int64_t rows = std::max({sizes.hiddenRows, sizes.hidden, (plan.config.qkv == "split" ? 1 : 3) * plan.config.width});
    trace.touch(MemoryKind::Scratch, static_cast<double>(rows) * static_cast<double>(plan.config.width));
}

double tokensOnDevice(const RunPlan& plan, std::int64_t tokens) {
    constexpr double kInt32 = 4;
    return plan.onGpu() && plan.feed.place == TokenPlace::Device ? kInt32 * static_cast<double>(tokens) : 0;
}

EagerMemory::EagerMemory(const RunPlan& plan, const ModelSizes& sizes, AllocationTrace& trace) : m_trace(trace), m_plan(plan), m_sizes(sizes) {
    const RunConfig& config = plan.config;
    m_context = static_cast<double>(plan.context);
    m_n = static_cast<double>(plan.batchSize) * m_context;
    m_width = static_cast<double>(config.width);
    m_layers = static_cast<double>(config.layers);
    m_heads = static_cast<double>(config.heads);
    m_vocabulary = static_cast<double>(sizes.vocabulary);
    m_hidden = static_cast<double>(sizes.hidden);
    m_hiddenRows = static_cast<double>(sizes.hiddenRows);
    m_parameters = static_cast<double>(sizes.parameters);
    const auto elementOf = [](Precision precision) { return precision == Precision::Float32 ? kFloat : 2; };
    m_low = plan.precision != Precision::Float32;
    m_element = elementOf(plan.precision);
    m_manual = plan.attention == AttentionKind::Manual;
    m_gpu = plan.onGpu();
    m_graph = plan.execution == Execution::Captured;
    // Without 16-bit products a GPU has the memory-efficient kernel alone, and that takes whole vectors of 16 bytes.
    const bool noKernel = m_gpu && !m_low && plan.attention == AttentionKind::Auto && config.width / config.heads % 4 != 0;
    m_math = plan.attention == AttentionKind::Math || noKernel;
    m_wideSoftmax = m_gpu && m_low && m_manual;
    m_keepGradients = plan.keepsGradients || m_graph;
    m_tied = config.tiedHead == "on";
    m_postNorm = config.normPlacement == "post";
    m_rmsNorm = config.norm == "rmsnorm" && !m_gpu;  // LibTorch has one kernel for it there, which keeps what LayerNorm's does
    m_rope = config.positions == "rope";
    m_dropout = config.dropout > 0;
    m_smoothing = config.labelSmoothing > 0;
    m_fusedNorm = plan.fused.norm;
    m_fusedLoss = plan.loss == LossKind::Fused;
    m_fusedQkv = plan.fused.heads;
    m_fusedHeads = m_fusedQkv && plan.attention == AttentionKind::Fused;
    m_fusedActivation = plan.fused.activation;
    m_floatGradients = m_gpu && plan.fused.linear;
    m_fusedEmbedding = plan.fused.embedding;
    m_keepsLow = plan.keepsLowWeights();
    m_attentionAgain = plan.recompute.attentionOnly;
    m_splitQkv = config.qkv == "split";
    // Behind a rotation q lies head by head, and so does what LibTorch's attention makes of it on a CPU; without one it lies token by token as q
    // does.
    m_mergesByCopy = m_rope && !m_gpu && !m_manual && !m_math && plan.attention != AttentionKind::Fused && !m_attentionAgain;
    m_blockAgain = plan.recompute.everyKthBlock;
    m_chunk = plan.loss == LossKind::Chunked ? std::min(static_cast<double>(plan.lossRows), m_n) : 0;
    m_microBatches = plan.accumulation;
    m_validates = plan.validation.happens();
    m_validationRows = validationRows(plan);
    m_validationElement = elementOf(plan.validation.precision);
}

void EagerMemory::takeLasting() {
    take(MemoryKind::Weights, kFloat * m_parameters);
    const bool eightBit = m_plan.optimizer == OptimizerKind::EightBit;
    // A byte, and a scale for every 256; where they are dealt out a worker's part.
    const double moment = (eightBit ? 1 + kFloat / 256 : kFloat) * m_parameters / static_cast<double>(m_plan.momentShares);
    // A run begins with moments in float32 on its device; the first is rounded while both are there (core/state/EightBitMoments.cpp).
    Block wide = m_gpu && eightBit ? take(MemoryKind::Moments, 2 * kFloat * m_parameters) : kNone;
    take(MemoryKind::Moments, moment);
    drop(wide);
    take(MemoryKind::Moments, moment);
    if (m_keepsLow) take(MemoryKind::LowWeights, 2 * m_layers * m_width * (4 * m_width + m_hiddenRows + m_hidden));
    // What the loader has ready waits on the host.
    for (double i = 0; i < (m_gpu ? 1 : batchesInMemory(m_plan.feed)); ++i) take(MemoryKind::Batches, 2 * kId * m_n);
    if (const double all = tokensOnDevice(m_plan, m_sizes.tokens); all > 0) take(MemoryKind::Batches, all);
    // cuBLAS has a handle a thread, and a workspace a handle and stream: forward's, and that of autograd's thread.
    if (m_gpu) take(MemoryKind::Scratch, 2 * static_cast<double>(m_sizes.cublasWorkspace));
}

void EagerMemory::run() {
    takeLasting();
    m_layer.resize(static_cast<std::size_t>(m_layers));
    m_gradients.resize(m_layer.size());
    // The second micro-batch meets the gradients of the first, and the second step what the first one left; thirds are like seconds. A captured step
    // makes its gradients once, in memory of the graph.
    for (int step = 0; step < (m_graph ? 1 : 2); ++step) {
        for (std::int64_t micro = 0; micro < std::min<std::int64_t>(m_microBatches, 2); ++micro) {
            forward();
            backward();
        }
        update();
    }
    // Whatever the capture took and gave back stays the graph's (core/program/GraphProgram.cpp): nothing beside the step can use it.
    if (m_graph) take(MemoryKind::Graph, m_trace.peak() - m_trace.live());
    if (m_gpu && m_validates) validate();
}

void EagerMemory::forward() {
    const double n = m_n, C = m_width;
    Block rows = take(MemoryKind::Embedding, kFloat * n * C);
    Block stream = take(MemoryKind::Norms, kFloat * n * C);
    drop(rows);
    if (m_dropout) m_embeddingMask = takeMask(MemoryKind::Embedding);
    Block branch = kNone;
    for (std::size_t l = 0; l < m_layer.size(); ++l) {
        // The first block's sum is the embedding itself, and where blocks may be run again each begins with the sum of the one before.
        if (branch == kNone) std::swap(m_layer[l].norm1.sum, stream);
        Block next = forwardLayer(m_layer[l]);
        drop(branch);
        branch = next;
        if (m_blockAgain == 0) continue;
        stream = joinedStream(branch);
        if (isRunAgain(l)) keepOnlyInput(m_layer[l]);
    }
    if (stream != kNone) std::swap(m_final.sum, stream);
    if (!m_postNorm) forwardNorm(m_final);
    drop(branch);
    forwardLoss();
}

// What the layer adds to the residual stream.
EagerMemory::Block EagerMemory::forwardLayer(Layer& layer) {
    const double n = m_n, C = m_width;
    layer.castWeights.clear();
    const auto castWeight = [&](double elements) {
        if (m_low && !m_keepsLow) layer.castWeights.push_back(take(MemoryKind::LowWeights, 2 * elements));
    };
    forwardNorm(layer.norm1);
    castWeight(3 * C * C);
    forwardQkv(layer);
    forwardAttention(layer);
    castWeight(C * C);
    Block projected = forwardBranch(MemoryKind::Attention, layer.mask1);
    if (m_low && !m_gpu) m_trace.touch(MemoryKind::Scratch, kFloat * n * C);  // the sum of two types goes through a copy
    layer.norm2.sum = take(MemoryKind::Norms, kFloat * n * C);
    drop(projected);
    forwardNorm(layer.norm2);
    castWeight(m_hiddenRows * C);
    layer.fc = take(MemoryKind::Mlp, m_element * n * m_hiddenRows);
    if (m_hiddenRows > m_hidden && !(m_gpu && m_fusedActivation)) layer.gate = take(MemoryKind::Mlp, m_element * n * m_hidden);
    layer.activated = take(MemoryKind::Mlp, m_element * n * m_hidden);
    castWeight(m_hidden * C);
    Block branch = forwardBranch(MemoryKind::Mlp, layer.mask2);
    // Products keep the lowered norms; without autocast the norms themselves.
    if (m_low) drop(layer.norm1.normed), drop(layer.norm2.normed);
    return branch;
}

EagerMemory::Block EagerMemory::joinedStream(Block& branch) {
    const double bytes = kFloat * m_n * m_width;
    if (m_low && !m_gpu) m_trace.touch(MemoryKind::Scratch, bytes);
    const Block sum = take(MemoryKind::Norms, bytes);
    drop(branch);
    return sum;
}

void EagerMemory::keepOnlyInput(Layer& layer) {
    for (Norm* norm : {&layer.norm1, &layer.norm2}) drop(norm->scaled), drop(norm->normed), drop(norm->low), drop(norm->moments);
    for (Block* block : {&layer.norm2.sum, &layer.qkv, &layer.turned, &layer.heads, &layer.table, &layer.out, &layer.merged, &layer.sums, &layer.fc,
                         &layer.gate, &layer.activated, &layer.mask1, &layer.mask2})
        drop(*block);
    for (Block& cast : layer.castWeights) drop(cast);
}

void EagerMemory::forwardNorm(Norm& norm) {
    const double floats = kFloat * m_n * m_width;
    if (norm.sum == kNone) norm.sum = take(MemoryKind::Norms, floats);
    if (m_fusedNorm) {
        norm.low = take(MemoryKind::Norms, m_element * m_n * m_width);
        norm.moments = take(MemoryKind::Norms, 2 * kFloat * m_n);
        return;
    }
    // RMSNorm is made of plain operations: the squares come and go, the scaled values are kept.
    if (m_rmsNorm) m_trace.touch(MemoryKind::Scratch, floats), norm.scaled = take(MemoryKind::Norms, floats);
    norm.normed = take(MemoryKind::Norms, floats);
    norm.moments = take(MemoryKind::Norms, 2 * kFloat * m_n);
    if (m_low) norm.low = take(MemoryKind::Norms, m_element * m_n * m_width);
}

EagerMemory::Block EagerMemory::forwardBranch(MemoryKind kind, Block& mask) {
    const double bytes = m_element * m_n * m_width;
    Block branch = take(kind, bytes);
    if (!m_dropout) return branch;
    mask = takeMask(kind);
    Block kept = take(kind, bytes), grown = take(kind, bytes);
    drop(branch), drop(kept);
    return grown;
}

EagerMemory::Block EagerMemory::takeMask(MemoryKind kind) {
    const double elements = m_n * m_width;
    // A GPU draws it by operations on tables of 64-bit numbers, two at a time (core/model/Dropout.cpp).
    Block numbers = m_gpu ? take(MemoryKind::Scratch, 2 * kId * elements) : kNone;
    const Block mask = take(kind, elements);
    drop(numbers);
    return mask;
}

void EagerMemory::forwardQkv(Layer& layer) {
    const double tokens = m_n * m_width;
    layer.qkv = take(MemoryKind::Qkv, 3 * m_element * tokens);
    if (!m_rope) return;
    layer.turned = take(MemoryKind::Qkv, 2 * m_element * tokens);
    // In float32: four products and two sums of halves, and where the rows have 16 bits themselves widened, and the result before it is narrowed; of
    // what is kept the one of k is not there yet.
    m_trace.touch(MemoryKind::Scratch, m_low ? 5 * kFloat * tokens - m_element * tokens : 3 * kFloat * tokens);
    if (!m_splitQkv) return;
    // Of three projections only v's is still needed; of one, v is a piece and keeps all of it.
    drop(layer.qkv);
    layer.qkv = take(MemoryKind::Qkv, m_element * tokens);
}

// Everything between q, k, v and what goes into the projection.
void EagerMemory::forwardAttention(Layer& layer) {
    // On a GPU scaled_dot_product_attention widens 16 bits for its plain form (native/transformers/attention.cpp).
    const double n = m_n, C = m_width, e = m_gpu && m_math ? kFloat : m_element, tables = e * n * m_heads * m_context;
    if (!m_manual && !m_math) {
        layer.out = take(MemoryKind::Attention, e * n * C);
        layer.sums = take(MemoryKind::Attention, kFloat * n * m_heads);  // the logarithms of softmax's sums
        if (m_mergesByCopy) layer.merged = take(MemoryKind::Attention, e * n * C);
        return;
    }
    // Products of batches take q, k and v as rows of one head after the other: copies, and those are kept.
    layer.heads = take(MemoryKind::Qkv, 2 * e * n * C);
    if (m_math) m_trace.touch(MemoryKind::Scratch, 2 * e * n * C);  // q and k scaled
    Block scores = take(MemoryKind::Attention, tables);
    Block masked = take(MemoryKind::Attention, tables);
    drop(scores);
    if (m_manual) {
        scores = take(MemoryKind::Attention, tables);
        drop(masked);
        masked = scores;
    }
    const double wide = kFloat * n * m_heads * m_context;
    if (m_wideSoftmax) m_trace.touch(MemoryKind::Attention, 2 * wide);  // what goes in and what comes out; then its copy for the product
    layer.table = take(MemoryKind::Attention, tables + (m_wideSoftmax ? wide : 0));
    drop(masked);
    Block values = take(MemoryKind::Qkv, e * n * C);
    Block apart = take(MemoryKind::Attention, e * n * C);
    layer.out = take(MemoryKind::Attention, m_element * n * C);
    drop(apart);
    if (m_attentionAgain && !m_inBackward) {
        drop(values), drop(layer.heads), drop(layer.table);
        return;
    }
    // One block for the copies of q, k and v.
    drop(values), drop(layer.heads), drop(layer.qkv), drop(layer.turned);
    layer.heads = take(MemoryKind::Qkv, 3 * e * n * C);
}

}  // namespace stepscope
