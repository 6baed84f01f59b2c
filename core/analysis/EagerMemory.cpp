// See EagerMemory.h. Sizes are in bytes; n = tokens of a micro-batch, C = width. Order and lifetimes follow core/model and
// core/train/EagerProgram.cpp; what LibTorch keeps is from its derivatives.yaml.
#include "core/analysis/EagerMemory.h"

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

constexpr double kFloat = 4, kId = 8;

}  // namespace

EagerMemory::EagerMemory(const RunConfig& config, const ModelSizes& sizes, AllocationTrace& trace) : m_trace(trace) {
    m_context = static_cast<double>(config.integer("context"));
    m_n = static_cast<double>(config.integer("batch-size")) * m_context;
    m_width = static_cast<double>(config.width);
    m_layers = static_cast<double>(config.layers);
    m_heads = static_cast<double>(config.heads);
    m_vocabulary = static_cast<double>(sizes.vocabulary);
    m_hidden = static_cast<double>(sizes.hidden);
    m_hiddenRows = static_cast<double>(sizes.hiddenRows);
    m_parameters = static_cast<double>(sizes.parameters);
    m_low = config.word("amp") != "off";
    m_element = m_low ? 2 : kFloat;
    m_manual = config.word("attention") == "manual";
    m_math = config.word("attention") == "sdpa-math";
    m_keepGradients = config.word("zero-grad") == "zero";
    m_tied = config.tiedHead == "on";
    m_postNorm = config.normPlacement == "post";
    m_rmsNorm = config.norm == "rmsnorm";
    m_rope = config.positions == "rope";
    m_dropout = config.dropout > 0;
    m_smoothing = config.labelSmoothing > 0;
    const auto fused = [&](const char* id) {
        return config.has(id) && (config.word(id) == "on" || (config.word(id) == "auto" && config.word("fusion") == "kernels"));
    };
    m_fusedNorm = fused("fused-norm");
    m_fusedLoss = fused("fused-loss") && !m_smoothing;
    m_fusedHeads = fused("fused-attention") && fused("fused-qkv") && config.word("attention") == "auto";
    m_fusedEmbedding = fused("fused-embedding");
    m_microBatches = config.integer("grad-accumulation");
    m_optimizer = config.word("optimizer");
    const std::int64_t workers = config.has("loader-workers") ? config.integer("loader-workers") : 0;
    m_batchBlocks = 1 + (workers > 0 ? static_cast<double>(workers + config.integer("loader-prefetch")) : 0);
}

void EagerMemory::run() {
    take(MemoryKind::Weights, kFloat * m_parameters);
    const double moment = m_optimizer == "8-bit" ? 1 + kFloat / 256 : kFloat;  // a byte, and a scale for every 256
    take(MemoryKind::Moments, moment * m_parameters);
    take(MemoryKind::Moments, moment * m_parameters);
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
    const double n = m_n, C = m_width;
    Block rows = take(MemoryKind::Embedding, kFloat * n * C);
    Block stream = take(MemoryKind::Norms, kFloat * n * C);
    drop(rows);
    if (m_dropout) m_embeddingMask = take(MemoryKind::Embedding, n * C);
    Block branch = kNone;
    for (Layer& layer : m_layer) {
        layer.castWeights.clear();
        const auto castWeight = [&](double elements) {
            if (m_low) layer.castWeights.push_back(take(MemoryKind::LowWeights, 2 * elements));
        };
        // The first block's sum is the embedding itself.
        if (branch == kNone) std::swap(layer.norm1.sum, stream);
        forwardNorm(layer.norm1);
        castWeight(3 * C * C);
        forwardAttention(layer);
        castWeight(C * C);
        Block projected = forwardBranch(MemoryKind::Attention, layer.mask1);
        if (m_low) m_trace.touch(MemoryKind::Scratch, kFloat * n * C);  // the sum of two types goes through a copy
        layer.norm2.sum = take(MemoryKind::Norms, kFloat * n * C);
        drop(projected);
        forwardNorm(layer.norm2);
        castWeight(m_hiddenRows * C);
        layer.fc = take(MemoryKind::Mlp, m_element * n * m_hiddenRows);
        if (m_hiddenRows > m_hidden) layer.gate = take(MemoryKind::Mlp, m_element * n * m_hidden);
        layer.activated = take(MemoryKind::Mlp, m_element * n * m_hidden);
        castWeight(m_hidden * C);
        Block next = forwardBranch(MemoryKind::Mlp, layer.mask2);
        drop(branch);
        branch = next;
        // Products keep the lowered norms; without autocast the norms themselves.
        if (m_low) drop(layer.norm1.normed), drop(layer.norm2.normed);
    }
    if (!m_postNorm) forwardNorm(m_final);
    drop(branch);
    forwardLoss();
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
    mask = take(kind, m_n * m_width);
    Block kept = take(kind, bytes), grown = take(kind, bytes);
    drop(branch), drop(kept);
    return grown;
}

void EagerMemory::forwardAttention(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element, tables = e * n * m_heads * m_context;
    layer.qkv = take(MemoryKind::Qkv, 3 * e * n * C);
    if (m_rope) {
        layer.turned = take(MemoryKind::Qkv, 2 * e * n * C);
        m_trace.touch(MemoryKind::Scratch, 3 * kFloat * n * C);
    }
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
    drop(values), drop(layer.heads), drop(layer.qkv), drop(layer.turned);
    layer.heads = take(MemoryKind::Qkv, 3 * e * n * C);
}

void EagerMemory::forwardLoss() {
    const double table = m_n * m_vocabulary;
    if (m_low) m_castHead = take(MemoryKind::LowWeights, 2 * m_vocabulary * m_width);
    Block logits = take(MemoryKind::Logits, m_element * table);
    if (m_fusedLoss) {
        m_logProbabilities = logits;  // their gradient stands in their place already
        if (m_low) drop(m_final.normed);
        return;
    }
    Block wide = m_low ? take(MemoryKind::Logits, kFloat * table) : kNone;
    m_logProbabilities = take(MemoryKind::Logits, kFloat * table);
    drop(wide), drop(logits);
    if (m_low) drop(m_final.normed);
}

void EagerMemory::backward() {
    backwardLoss();
    const double C = m_width;
    for (std::size_t l = m_layer.size(); l-- > 0;) {
        backwardMlp(m_layer[l]);
        weightGradient(m_hidden * C, m_gradients[l].fcProjection);
        weightGradient(m_hiddenRows * C, m_gradients[l].fc);
        backwardAttention(m_layer[l]);
        weightGradient(C * C, m_gradients[l].projection);
        weightGradient(3 * C * C, m_gradients[l].qkv);
        for (Block& cast : m_layer[l].castWeights) drop(cast);
    }
    drop(m_embeddingMask);
    if (m_positionGradient == kNone && !m_rope) m_positionGradient = take(MemoryKind::Gradients, kFloat * m_context * C);
    if (m_vectorGradients == kNone) m_vectorGradients = take(MemoryKind::Gradients, kFloat * m_layers * 13 * C);
    // The embedding's gradient is a table of its own; tied, its sum with the head's is a third.
    const double table = kFloat * m_vocabulary * C;
    if (m_fusedEmbedding && m_tied) return drop(m_gradient);  // only the rows that occurred, added to the head's
    Block ofEmbedding = take(MemoryKind::Gradients, table);
    if (m_tied) {
        Block sum = take(MemoryKind::Gradients, table);
        drop(ofEmbedding), drop(m_headGradient);
        m_headGradient = sum;
    } else if (m_embeddingGradient == kNone) {
        m_embeddingGradient = ofEmbedding;
    } else {
        drop(ofEmbedding);
    }
    drop(m_gradient);
}

void EagerMemory::backwardLoss() {
    const double n = m_n, C = m_width;
    Block ofLogits = std::exchange(m_logProbabilities, kNone);
    if (!m_fusedLoss) ofLogits = backwardSoftmax(ofLogits);
    Block ofHidden = take(MemoryKind::Scratch, m_element * n * C);
    weightGradient(m_vocabulary * C, m_headGradient);
    drop(ofLogits), drop(m_castHead);
    if (!m_postNorm) return backwardNorm(m_final, ofHidden);
    m_gradient = ofHidden;
}

EagerMemory::Block EagerMemory::backwardSoftmax(Block& logProbabilities) {
    const double table = m_n * m_vocabulary;
    Block ofProbabilities = take(MemoryKind::Logits, kFloat * table);
    if (m_smoothing) m_trace.touch(MemoryKind::Logits, kFloat * table);
    Block ofLogits = take(MemoryKind::Logits, kFloat * table);
    drop(ofProbabilities), drop(logProbabilities);
    if (!m_low) return ofLogits;
    const Block lowered = take(MemoryKind::Logits, m_element * table);
    drop(ofLogits);
    return lowered;
}

void EagerMemory::backwardNorm(Norm& norm, Block& ofNormed) {
    const double floats = kFloat * m_n * m_width;
    drop(norm.low), drop(norm.normed);
    if (m_fusedNorm) {
        // It adds the stream's own gradient on its way, and writes the branch's in the products' type beside it.
        Block all = take(MemoryKind::Scratch, floats);
        if (m_low) m_trace.touch(MemoryKind::Scratch, m_element * m_n * m_width);
        drop(ofNormed), drop(m_gradient), drop(norm.sum), drop(norm.moments);
        m_gradient = all;
        return;
    }
    Block wide = m_low ? take(MemoryKind::Scratch, floats) : kNone;
    if (m_rmsNorm) m_trace.touch(MemoryKind::Scratch, 2 * floats);
    Block ofSum = take(MemoryKind::Scratch, floats);
    drop(wide), drop(ofNormed), drop(norm.scaled), drop(norm.moments);
    if (m_gradient != kNone) {
        Block both = take(MemoryKind::Scratch, floats);
        drop(ofSum), drop(m_gradient);
        ofSum = both;
    }
    drop(norm.sum);
    m_gradient = ofSum;
}

void EagerMemory::backwardMlp(Layer& layer) {
    const double n = m_n, e = m_element;
    Block lowered = m_low || m_dropout ? take(MemoryKind::Scratch, e * n * m_width) : kNone;
    drop(layer.mask2);
    Block ofActivated = take(MemoryKind::Scratch, e * n * m_hidden);
    drop(lowered), drop(layer.activated);
    if (layer.gate != kNone) {
        Block halves = take(MemoryKind::Scratch, 2 * e * n * m_hidden);
        drop(ofActivated), drop(layer.gate);
        ofActivated = take(MemoryKind::Scratch, e * n * m_hidden);
        m_trace.touch(MemoryKind::Scratch, e * n * m_hiddenRows);
        drop(halves);
    }
    Block ofFc = take(MemoryKind::Scratch, e * n * m_hiddenRows);
    drop(ofActivated), drop(layer.fc);
    Block ofNormed = take(MemoryKind::Scratch, e * n * m_width);
    drop(ofFc);
    backwardNorm(layer.norm2, ofNormed);
}

void EagerMemory::backwardAttention(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element, tables = e * n * m_heads * m_context;
    Block lowered = m_low || m_dropout ? take(MemoryKind::Scratch, e * n * C) : kNone;
    drop(layer.mask1);
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
    Block ofQkv = m_fusedHeads ? std::exchange(ofHeads, kNone) : take(MemoryKind::Scratch, 3 * e * n * C);
    drop(ofHeads), drop(layer.heads), drop(layer.qkv), drop(layer.turned);
    Block ofNormed = take(MemoryKind::Scratch, e * n * C);
    drop(ofQkv);
    backwardNorm(layer.norm1, ofNormed);
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
    const double largest = std::max(m_vocabulary, m_hiddenRows) * m_width;
    if (m_optimizer == "foreach") m_trace.touch(MemoryKind::Scratch, kFloat * m_parameters);
    if (m_optimizer == "loop") {
        Block root = take(MemoryKind::Scratch, kFloat * largest);
        m_trace.touch(MemoryKind::Scratch, kFloat * largest);
        drop(root);
    }
    if (m_keepGradients) return;
    for (Gradients& of : m_gradients) drop(of.qkv), drop(of.projection), drop(of.fc), drop(of.fcProjection);
    drop(m_headGradient), drop(m_embeddingGradient), drop(m_positionGradient), drop(m_vectorGradients);
}

}  // namespace stepscope
