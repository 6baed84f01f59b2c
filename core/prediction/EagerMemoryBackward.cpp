// The backward pass and the update as EagerMemory plays them, operation by operation in the order of autograd.
#include <algorithm>
#include <utility>

#include "core/prediction/CudaFormMemory.h"
#include "core/prediction/EagerMemory.h"

namespace stepscope {

void EagerMemory::backward() {
    m_inBackward = true;
    backwardLoss();
    const double C = m_width;
    for (std::size_t l = m_layer.size(); l-- > 0;) {
        Block again = kNone;
        if (isRunAgain(l)) {
            Block branch = forwardLayer(m_layer[l]);
            again = joinedStream(branch);
        }
        backwardMlp(m_layer[l]);
        weightGradient(m_hidden * C, m_gradients[l].fcProjection);
        weightGradient(m_hiddenRows * C, m_gradients[l].fc);
        backwardAttention(m_layer[l]);
        weightGradient(C * C, m_gradients[l].projection);
        weightGradient(3 * C * C, m_gradients[l].qkv);
        for (Block& cast : m_layer[l].castWeights) drop(cast);
        drop(again);
    }
    m_inBackward = false;
    drop(m_embeddingMask);
    if (m_positionGradient == kNone && !m_rope) m_positionGradient = take(MemoryKind::Gradients, kFloat * m_context * C);
    if (m_vectorGradients == kNone) m_vectorGradients = take(MemoryKind::Gradients, kFloat * m_layers * 13 * C);
    // The embedding's gradient is a table of its own; tied, its sum with the head's is a third.
    const double table = kFloat * m_vocabulary * C;
    if (m_fusedEmbedding && m_tied && !m_gpu) return drop(m_gradient);  // only the rows that occurred, added to the head's
    Block ofEmbedding = take(MemoryKind::Gradients, table);
    // Sorted ids, where each came from, and partial sums.
    if (m_gpu && m_fusedEmbedding) m_trace.touch(MemoryKind::Scratch, 2 * kId * m_n + cuda_form::embeddingSums(m_n, m_width));
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

void EagerMemory::backwardNorm(Norm& norm, Block& ofNormed) {
    const double floats = kFloat * m_n * m_width;
    drop(norm.low), drop(norm.normed);
    if (m_fusedNorm) {
        // It adds the stream's own gradient on its way, and writes the branch's in the products' type beside it.
        Block all = take(MemoryKind::Scratch, floats);
        Block low = m_low ? take(MemoryKind::Scratch, m_element * m_n * m_width) : kNone;
        if (m_gpu) m_trace.touch(MemoryKind::Scratch, cuda_form::normSums(m_n, m_width));
        drop(low);
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
    if (m_gpu && m_fusedActivation) m_trace.touch(MemoryKind::Scratch, cuda_form::columnSums(n, m_hiddenRows));
    drop(ofActivated), drop(layer.fc);
    Block ofNormed = take(MemoryKind::Scratch, e * n * m_width);
    drop(ofFc);
    backwardNorm(layer.norm2, ofNormed);
}

void EagerMemory::backwardAttention(Layer& layer) {
    const double n = m_n, C = m_width, e = m_element, scores = n * m_heads * m_context;
    const double tables = (m_gpu && m_math ? kFloat : e) * scores, ofSoftmax = m_wideSoftmax ? kFloat * scores : tables;
    Block lowered = m_low || m_dropout ? take(MemoryKind::Scratch, e * n * C) : kNone;
    drop(layer.mask1);
    Block ofOut = take(MemoryKind::Scratch, e * n * C);
    drop(lowered), drop(layer.merged);
    Block again = kNone;
    if (m_attentionAgain) {
        std::swap(again, layer.out);
        drop(layer.sums);
        forwardAttention(layer);
    }
    if (layer.table != kNone) {
        Block ofTable = take(MemoryKind::Scratch, ofSoftmax), ofScores = take(MemoryKind::Scratch, ofSoftmax);
        drop(ofTable), drop(layer.table);
        ofTable = take(MemoryKind::Scratch, tables);
        drop(ofScores);
        if (m_manual) m_trace.touch(MemoryKind::Scratch, tables);
        drop(ofTable);
    }
    Block ofHeads = take(MemoryKind::Scratch, 3 * e * n * C);
    if (m_gpu && !m_manual && !m_math)
        m_trace.touch(MemoryKind::Scratch, cuda_form::attentionBackward(n / m_context, m_context, m_heads, C / m_heads));
    drop(ofOut), drop(layer.out), drop(again), drop(layer.sums);
    // Attention's own backward leaves the three as pieces of one, which is taken as it is. Behind a rotation those of q and k are tensors of their
    // own, so all three are copied together, and before that the one of v by itself (core/fused/Heads.cpp).
    const bool isJoined = m_fusedHeads && !m_rope;
    Block turnedBack = m_fusedHeads && m_rope ? take(MemoryKind::Scratch, 3 * e * n * C) : kNone;
    Block ofQkv = isJoined ? std::exchange(ofHeads, kNone) : take(MemoryKind::Scratch, 3 * e * n * C);
    drop(turnedBack);
    if (m_gpu && m_fusedQkv) m_trace.touch(MemoryKind::Scratch, cuda_form::columnSums(n, 3 * C));
    drop(ofHeads), drop(layer.heads), drop(layer.qkv), drop(layer.turned);
    Block ofNormed = take(MemoryKind::Scratch, e * n * C);
    drop(ofQkv);
    backwardNorm(layer.norm1, ofNormed);
}

void EagerMemory::weightGradient(double elements, Block& place) {
    Block computed = take(MemoryKind::Gradients, (m_floatGradients ? kFloat : m_element) * elements);
    if (m_low && !m_floatGradients) {
        Block wide = take(MemoryKind::Gradients, kFloat * elements);
        drop(computed);
        computed = wide;
    }
    keepGradient(computed, place);
}

void EagerMemory::keepGradient(Block computed, Block& place) {
    if (place == kNone)
        place = computed;
    else
        drop(computed);
}

void EagerMemory::update() {
    playMasks(m_plan, m_sizes, m_trace);
    playOptimizer(m_plan, m_sizes, m_trace);
    if (m_keepGradients) return;
    for (Gradients& of : m_gradients) drop(of.qkv), drop(of.projection), drop(of.fc), drop(of.fcProjection);
    drop(m_headGradient), drop(m_embeddingGradient), drop(m_positionGradient), drop(m_vectorGradients);
}

}  // namespace stepscope
