// The head and the loss as EagerMemory plays them, forwards and backwards; see EagerMemory.h.
#include "core/analysis/EagerMemory.h"

#include "core/analysis/HeadMemory.h"

#include <algorithm>
#include <utility>

namespace stepscope {

void EagerMemory::forwardLoss() {
    if (m_chunk > 0) return forwardChunks();
    if (m_fusedLoss) return forwardFusedLoss();
    const double table = m_n * m_vocabulary;
    if (m_low) m_castHead = take(MemoryKind::LowWeights, 2 * m_vocabulary * m_width);
    Block logits = take(MemoryKind::Logits, m_element * table);
    Block wide = m_low ? take(MemoryKind::Logits, kFloat * table) : kNone;
    m_logProbabilities = take(MemoryKind::Logits, kFloat * table);
    drop(wide), drop(logits);
    if (m_low) drop(m_final.normed);
}

// The gradients are there when the forward pass ends: of the head's input as a whole, of the head as a sum over chunks.
void EagerMemory::forwardChunks() {
    const double table = m_chunk * m_vocabulary, head = m_vocabulary * m_width;
    if (m_low) m_castHead = take(MemoryKind::LowWeights, m_element * head);
    m_hiddenGradient = take(MemoryKind::Scratch, kFloat * m_n * m_width);
    Block ofHead = take(MemoryKind::Gradients, kFloat * head);
    Block logits = take(MemoryKind::Logits, m_element * table);
    Block wide = m_low ? take(MemoryKind::Logits, kFloat * table) : kNone;
    m_logProbabilities = take(MemoryKind::Logits, kFloat * table);
    drop(wide), drop(logits);
    Block ofLogits = backwardSoftmax(m_logProbabilities, m_chunk);
    m_trace.touch(MemoryKind::Gradients, m_element * head);
    drop(ofLogits), drop(m_castHead);
    keepGradient(ofHead, m_headGradient);
}

void EagerMemory::forwardFusedLoss() {
    const double head = m_vocabulary * m_width;
    m_hiddenGradient = take(MemoryKind::Scratch, m_element * m_n * m_width);
    Block ofHead = take(MemoryKind::Gradients, kFloat * head);
    Block weights = take(MemoryKind::LowWeights, packedHead(m_element, m_vocabulary, m_width));
    Block exponentials = take(MemoryKind::Logits, keptExponentials(m_element, m_n, m_vocabulary));
    drop(weights), drop(exponentials);
    if (m_low) drop(m_final.normed);
    keepGradient(ofHead, m_headGradient);
}

void EagerMemory::backwardLoss() {
    const double n = m_n, C = m_width;
    if (m_hiddenGradient != kNone) {
        if (m_postNorm) m_gradient = std::exchange(m_hiddenGradient, kNone);
        else backwardNorm(m_final, m_hiddenGradient);
        return;
    }
    Block ofLogits = backwardSoftmax(m_logProbabilities, n);
    Block ofHidden = take(MemoryKind::Scratch, m_element * n * C);
    weightGradient(m_vocabulary * C, m_headGradient);
    drop(ofLogits), drop(m_castHead);
    if (!m_postNorm) return backwardNorm(m_final, ofHidden);
    m_gradient = ofHidden;
}

EagerMemory::Block EagerMemory::backwardSoftmax(Block& logProbabilities, double rows) {
    const double table = rows * m_vocabulary;
    Block ofProbabilities = take(MemoryKind::Logits, kFloat * table);
    if (m_smoothing) m_trace.touch(MemoryKind::Logits, kFloat * table);
    Block ofLogits = take(MemoryKind::Logits, kFloat * table);
    drop(ofProbabilities), drop(logProbabilities);
    if (!m_low) return ofLogits;
    const Block lowered = take(MemoryKind::Logits, m_element * table);
    drop(ofLogits);
    return lowered;
}

}  // namespace stepscope
