// See EagerMemory.h. Sizes are in bytes; n = tokens of a micro-batch, C = width. Order and lifetimes follow core/model and
// core/train/EagerProgram.cpp; what LibTorch keeps is from its derivatives.yaml.
#include "core/analysis/EagerMemory.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr double kFloat = 4, kId = 8;

}  // namespace

EagerMemory::EagerMemory(const RunConfig& config, std::int64_t vocabulary, AllocationTrace& trace) : m_trace(trace) {
    m_context = static_cast<double>(config.integer("context"));
    m_n = static_cast<double>(config.integer("batch-size")) * m_context;
    m_width = static_cast<double>(config.width);
    m_layers = static_cast<double>(config.layers);
    m_heads = static_cast<double>(config.heads);
    m_vocabulary = static_cast<double>(vocabulary);
    m_low = config.word("amp") != "off";
    m_element = m_low ? 2 : kFloat;
    m_manual = config.word("attention") == "manual";
    m_math = config.word("attention") == "sdpa-math";
    m_keepGradients = config.word("zero-grad") == "zero";
    m_microBatches = config.integer("grad-accumulation");
    m_optimizer = config.word("optimizer");
    const std::int64_t workers = config.has("loader-workers") ? config.integer("loader-workers") : 0;
    m_batchBlocks = 1 + (workers > 0 ? static_cast<double>(workers + config.integer("loader-prefetch")) : 0);
    m_parameters = (m_vocabulary + m_context) * m_width + m_layers * (12 * m_width * m_width + 13 * m_width) + 2 * m_width;
}

void EagerMemory::run() {
    take(MemoryKind::Weights, kFloat * m_parameters);
    take(MemoryKind::Moments, kFloat * m_parameters);
    take(MemoryKind::Moments, kFloat * m_parameters);
    for (double i = 0; i < std::min(m_batchBlocks, 1e4); ++i) take(MemoryKind::Batches, 2 * kId * m_n);
    m_layer.resize(static_cast<std::size_t>(m_layers));
    m_gradients.resize(m_layer.size());
    // The second micro-batch meets the gradients of the first, and the second step what the first one left; thirds are like seconds.
    for (int step = 0; step < 2; ++step) {
        for (std::int64_t micro = 0; micro < std::min<std::int64_t>(m_microBatches, 2); ++micro) {
            forward();
            backward();
        }
        update();
    }
}

void EagerMemory::forward() {
    const double n = m_n, C = m_width, e = m_element;
    Block rows = take(MemoryKind::Embedding, kFloat * n * C);
    Block stream = take(MemoryKind::Norms, kFloat * n * C);
    drop(rows);
    Block branch = kNone;
    for (Layer& layer : m_layer) {
        layer.castWeights.clear();
        const auto castWeight = [&](double elements) {
            if (m_low) layer.castWeights.push_back(take(MemoryKind::LowWeights, 2 * elements));
        };
        // Its sum is the embedding's in the first block.
        layer.sum1 = branch == kNone ? stream : take(MemoryKind::Norms, kFloat * n * C);
        layer.norm1 = take(MemoryKind::Norms, kFloat * n * C);
        layer.moments1 = take(MemoryKind::Norms, 2 * kFloat * n);
        if (m_low) layer.low1 = take(MemoryKind::Norms, e * n * C);
        castWeight(3 * C * C);
        forwardAttention(layer);
        castWeight(C * C);
        Block projected = take(MemoryKind::Attention, e * n * C);
        if (m_low) m_trace.touch(MemoryKind::Scratch, kFloat * n * C);  // the sum of two types goes through a copy
        layer.sum2 = take(MemoryKind::Norms, kFloat * n * C);
        drop(projected);
        layer.norm2 = take(MemoryKind::Norms, kFloat * n * C);
        layer.moments2 = take(MemoryKind::Norms, 2 * kFloat * n);
        if (m_low) layer.low2 = take(MemoryKind::Norms, e * n * C);
        castWeight(4 * C * C);
        layer.fc = take(MemoryKind::Mlp, e * 4 * n * C);
        layer.activated = take(MemoryKind::Mlp, e * 4 * n * C);
        castWeight(4 * C * C);
        Block next = take(MemoryKind::Mlp, e * n * C);
        drop(branch);
        branch = next;
        // Products keep the lowered norms; without autocast the norms themselves.
        if (m_low) drop(layer.norm1), drop(layer.norm2);
    }
    m_finalSum = take(MemoryKind::Norms, kFloat * n * C);
    drop(branch);
    m_finalNorm = take(MemoryKind::Norms, kFloat * n * C);
    if (m_low) m_finalLow = take(MemoryKind::Norms, e * n * C);
    forwardLoss();
}

void EagerMemory::forwardAttention(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element, tables = e * n * m_heads * m_context;
    layer.qkv = take(MemoryKind::Qkv, 3 * e * n * C);
    if (!m_manual && !m_math) {
        layer.out = take(MemoryKind::Attention, e * n * C);
        layer.sums = take(MemoryKind::Attention, kFloat * n * m_heads);  // the logarithms of softmax's sums
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
    layer.table = take(MemoryKind::Attention, tables);
    drop(masked);
    Block values = take(MemoryKind::Qkv, e * n * C);
    Block apart = take(MemoryKind::Attention, e * n * C);
    layer.out = take(MemoryKind::Attention, e * n * C);
    drop(apart);
    // One block for the copies of q, k and v.
    drop(values), drop(layer.heads), drop(layer.qkv);
    layer.heads = take(MemoryKind::Qkv, 3 * e * n * C);
}

void EagerMemory::forwardLoss() {
    const double table = m_n * m_vocabulary;
    if (m_low) m_castHead = take(MemoryKind::LowWeights, 2 * m_vocabulary * m_width);
    Block logits = take(MemoryKind::Logits, m_element * table);
    Block wide = m_low ? take(MemoryKind::Logits, kFloat * table) : kNone;
    m_logProbabilities = take(MemoryKind::Logits, kFloat * table);
    drop(wide), drop(logits);
    if (m_low) drop(m_finalNorm);
}

void EagerMemory::backward() {
    backwardLoss();
    const double C = m_width;
    for (std::size_t l = m_layer.size(); l-- > 0;) {
        backwardMlp(m_layer[l]);
        weightGradient(4 * C * C, m_gradients[l].fcProjection);
        weightGradient(4 * C * C, m_gradients[l].fc);
        backwardAttention(m_layer[l]);
        weightGradient(C * C, m_gradients[l].projection);
        weightGradient(3 * C * C, m_gradients[l].qkv);
        for (Block& cast : m_layer[l].castWeights) drop(cast);
    }
    if (m_positionGradient == kNone) m_positionGradient = take(MemoryKind::Gradients, kFloat * m_context * C);
    if (m_vectorGradients == kNone) m_vectorGradients = take(MemoryKind::Gradients, kFloat * m_layers * 13 * C);
    // The embedding's gradient is a table of its own, and its sum with the head's a third.
    Block ofEmbedding = take(MemoryKind::Gradients, kFloat * m_vocabulary * C);
    Block sum = take(MemoryKind::Gradients, kFloat * m_vocabulary * C);
    drop(ofEmbedding), drop(m_headGradient);
    m_headGradient = sum;
    drop(m_gradient);
}

void EagerMemory::backwardLoss() {
    const double n = m_n, C = m_width, table = n * m_vocabulary;
    Block ofProbabilities = take(MemoryKind::Logits, kFloat * table);
    Block ofLogits = take(MemoryKind::Logits, kFloat * table);
    drop(ofProbabilities), drop(m_logProbabilities);
    if (m_low) {
        Block lowered = take(MemoryKind::Logits, m_element * table);
        drop(ofLogits);
        ofLogits = lowered;
    }
    m_gradient = take(MemoryKind::Scratch, m_element * n * C);
    weightGradient(m_vocabulary * C, m_headGradient);
    drop(ofLogits), drop(m_finalLow), drop(m_finalNorm), drop(m_castHead);
    if (m_low) {
        Block wide = take(MemoryKind::Scratch, kFloat * n * C);
        drop(m_gradient);
        m_gradient = wide;
    }
    Block ofSum = take(MemoryKind::Scratch, kFloat * n * C);
    drop(m_gradient), drop(m_finalSum);
    m_gradient = ofSum;
}

void EagerMemory::backwardMlp(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element;
    Block lowered = m_low ? take(MemoryKind::Scratch, e * n * C) : kNone;
    Block ofActivated = take(MemoryKind::Scratch, e * 4 * n * C);
    drop(lowered), drop(layer.activated);
    Block ofFc = take(MemoryKind::Scratch, e * 4 * n * C);
    drop(ofActivated), drop(layer.fc);
    Block ofNorm = take(MemoryKind::Scratch, e * n * C);
    drop(ofFc), drop(layer.low2), drop(layer.norm2);
    Block wide = m_low ? take(MemoryKind::Scratch, kFloat * n * C) : kNone;
    Block ofSum = take(MemoryKind::Scratch, kFloat * n * C);
    drop(wide), drop(ofNorm);
    Block both = take(MemoryKind::Scratch, kFloat * n * C);
    drop(ofSum), drop(m_gradient), drop(layer.sum2), drop(layer.moments2);
    m_gradient = both;
}

void EagerMemory::backwardAttention(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element, tables = e * n * m_heads * m_context;
    Block lowered = m_low ? take(MemoryKind::Scratch, e * n * C) : kNone;
    Block ofOut = take(MemoryKind::Scratch, e * n * C);
    drop(lowered);
    if (layer.table != kNone) {
        Block ofTable = take(MemoryKind::Scratch, tables), ofScores = take(MemoryKind::Scratch, tables);
        drop(ofTable), drop(layer.table);
        ofTable = take(MemoryKind::Scratch, tables);
        drop(ofScores);
        if (m_manual) m_trace.touch(MemoryKind::Scratch, tables);
        drop(ofTable);
    }
    Block ofHeads = take(MemoryKind::Scratch, 3 * e * n * C);
    drop(ofOut), drop(layer.out), drop(layer.sums);
    Block ofQkv = take(MemoryKind::Scratch, 3 * e * n * C);
    drop(ofHeads), drop(layer.heads), drop(layer.qkv);
    Block ofNorm = take(MemoryKind::Scratch, e * n * C);
    drop(ofQkv), drop(layer.low1), drop(layer.norm1);
    Block wide = m_low ? take(MemoryKind::Scratch, kFloat * n * C) : kNone;
    Block ofSum = take(MemoryKind::Scratch, kFloat * n * C);
    drop(wide), drop(ofNorm);
    Block both = take(MemoryKind::Scratch, kFloat * n * C);
    drop(ofSum), drop(m_gradient), drop(layer.sum1), drop(layer.moments1);
    m_gradient = both;
}

void EagerMemory::weightGradient(double elements, Block& place) {
    Block computed = take(MemoryKind::Gradients, m_element * elements);
    if (m_low) {
        Block wide = take(MemoryKind::Gradients, kFloat * elements);
        drop(computed);
        computed = wide;
    }
    if (place == kNone) place = computed;
    else drop(computed);
}

void EagerMemory::update() {
    const double largest = std::max(m_vocabulary, 4 * m_width) * m_width;
    if (m_optimizer == "foreach") m_trace.touch(MemoryKind::Scratch, kFloat * m_parameters);
    if (m_optimizer == "loop") {
        Block root = take(MemoryKind::Scratch, kFloat * largest);
        m_trace.touch(MemoryKind::Scratch, kFloat * largest);
        drop(root);
    }
    if (m_keepGradients) return;
    for (Gradients& of : m_gradients) drop(of.qkv), drop(of.projection), drop(of.fc), drop(of.fcProjection);
    drop(m_headGradient), drop(m_positionGradient), drop(m_vectorGradients);
}

}  // namespace stepscope
