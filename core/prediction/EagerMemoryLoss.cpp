// The head and the loss as EagerMemory plays them, forwards and backwards, whole or in chunks.
#include <algorithm>
#include <utility>

#include "core/prediction/CudaFormMemory.h"
#include "core/prediction/EagerMemory.h"
#include "core/prediction/HeadMemory.h"

namespace stepscope {

void EagerMemory::forwardLoss() {
    if (m_chunk > 0) return forwardChunks();
    if (m_fusedLoss) return forwardFusedLoss();
    if (m_low) m_castHead = take(MemoryKind::LowWeights, 2 * m_vocabulary * m_width);
    forwardSoftmax(m_n);
    if (m_low) drop(m_final.normed);
}

// The logits, and of them what backward needs.
void EagerMemory::forwardSoftmax(double rows) {
    const double table = rows * m_vocabulary;
    Block logits = take(MemoryKind::Logits, m_element * table);
    if (m_gpu && m_low) {
        // CUDA's autocast leaves log_softmax in the type that cross_entropy_loss names, the logits', and widens its result for nll_loss, which keeps
        // that (ATen/autocast_mode.h; native/LossNLL.cpp). The CPU's widens what goes into cross_entropy_loss.
        m_logProbabilities = take(MemoryKind::Logits, m_element * table);
        m_widened = take(MemoryKind::Logits, kFloat * table);
        return drop(logits);
    }
    Block wide = m_low ? take(MemoryKind::Logits, kFloat * table) : kNone;
    m_logProbabilities = take(MemoryKind::Logits, kFloat * table);
    drop(wide), drop(logits);
}

// The gradients are there when the forward pass ends: of the head's input as a whole, of the head as a sum over chunks.
void EagerMemory::forwardChunks() {
    const double head = m_vocabulary * m_width;
    if (m_low) m_castHead = take(MemoryKind::LowWeights, m_element * head);
    m_hiddenGradient = take(MemoryKind::Scratch, kFloat * m_n * m_width);
    Block ofHead = take(MemoryKind::Gradients, kFloat * head);
    forwardSoftmax(m_chunk);
    Block ofLogits = backwardSoftmax(m_chunk);
    m_trace.touch(MemoryKind::Gradients, m_element * head);
    drop(ofLogits), drop(m_castHead);
    keepGradient(ofHead, m_headGradient);
}

void EagerMemory::forwardFusedLoss() {
    const double head = m_vocabulary * m_width;
    m_hiddenGradient = take(MemoryKind::Scratch, m_element * m_n * m_width);
    Block ofHead = take(MemoryKind::Gradients, kFloat * head);
    if (m_gpu) {
        forwardCudaLoss();
    } else {
        Block weights = take(MemoryKind::LowWeights, packedHead(m_element, m_vocabulary, m_width));
        const HeadMemory head{m_element, m_n, m_vocabulary, m_width, static_cast<double>(m_sizes.threads)};
        Block exponentials = take(MemoryKind::Logits, head.keptExponentials());
        Block rows = take(MemoryKind::Scratch, head.blocks());
        drop(weights), drop(exponentials), drop(rows);
    }
    if (m_low) drop(m_final.normed);
    keepGradient(ofHead, m_headGradient);
}

// core/fused/CudaLoss.cpp: the head in the products' type, a loss a row, and a chunk of logits, whose gradient takes their place and is added to both
// others.
void EagerMemory::forwardCudaLoss() {
    Block cast = m_low ? take(MemoryKind::LowWeights, m_element * m_vocabulary * m_width) : kNone;
    m_trace.touch(MemoryKind::Logits, kFloat * m_n + m_element * cuda_form::rowsOfLogits(m_n, m_vocabulary) * m_vocabulary);
    drop(cast);
}

void EagerMemory::backwardLoss() {
    const double n = m_n, C = m_width;
    if (m_hiddenGradient != kNone) {
        if (m_postNorm)
            m_gradient = std::exchange(m_hiddenGradient, kNone);
        else
            backwardNorm(m_final, m_hiddenGradient);
        return;
    }
    Block ofLogits = backwardSoftmax(n);
    Block ofHidden = take(MemoryKind::Scratch, m_element * n * C);
    weightGradient(m_vocabulary * C, m_headGradient);
    drop(ofLogits), drop(m_castHead);
    if (!m_postNorm) return backwardNorm(m_final, ofHidden);
    m_gradient = ofHidden;
}

EagerMemory::Block EagerMemory::backwardSoftmax(double rows) {
    const double table = rows * m_vocabulary;
    Block ofProbabilities = take(MemoryKind::Logits, kFloat * table);
    if (m_gpu && m_low) {
        drop(m_widened);
        const Block narrow = take(MemoryKind::Logits, m_element * table);
        drop(ofProbabilities);
        ofProbabilities = narrow;
    }
    const double element = m_gpu ? m_element : kFloat;
    if (m_smoothing) m_trace.touch(MemoryKind::Logits, element * table);
    Block ofLogits = take(MemoryKind::Logits, element * table);
    drop(ofProbabilities), drop(m_logProbabilities);
    if (!m_low || m_gpu) return ofLogits;
    const Block lowered = take(MemoryKind::Logits, m_element * table);
    drop(ofLogits);
    return lowered;
}

// Without autograd nothing is kept: the widest moment of one block, its MLP's, then the head's. It is the worst moment of a run where training has
// few logits at a time, or holds its memory in a graph.
void EagerMemory::validate() {
    const double e = m_validationElement, elements = m_validationRows * m_width, normed = (m_fusedNorm ? e : kFloat) * elements;
    Block streams = take(MemoryKind::Norms, (3 * kFloat + e) * elements + 2 * normed);  // before the block and with each branch; the branch before
    m_trace.touch(MemoryKind::Mlp, e * m_validationRows * (m_hiddenRows + m_hidden));
    drop(streams);
    Block hidden = take(MemoryKind::Norms, normed);
    Block cast = e < kFloat ? take(MemoryKind::LowWeights, e * m_vocabulary * m_width) : kNone;
    if (m_fusedLoss && m_chunk == 0) {
        m_trace.touch(MemoryKind::Logits, kFloat * m_validationRows + e * cuda_form::rowsOfLogits(m_validationRows, m_vocabulary) * m_vocabulary);
    } else {
        // Logits and the logarithms of their probabilities, and of 16 bits those in float32 as well.
        m_trace.touch(MemoryKind::Logits,
                      (2 * e + (e < kFloat ? kFloat : 0)) * (m_chunk > 0 ? std::min(m_chunk, m_validationRows) : m_validationRows) * m_vocabulary);
    }
    drop(cast), drop(hidden);
}

}  // namespace stepscope
