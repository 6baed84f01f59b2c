// What the head takes beside logits when linear + cross-entropy is one operation (core/kernels/linear_cross_entropy): in a planned step for good, under
// autograd while it runs. Sizes are in bytes. Used by EagerMemory and PlannedMemory.
#pragma once
#include <algorithm>
#include <cmath>

namespace stepscope {

// Exponentials of the logits, for the part of the rows that is kept at a time, and a block of them as it is worked on: whole tiles of the vocabulary.
inline double keptExponentials(double element, double rows, double vocabulary) {
    constexpr double kMost = 52e6, kTile = 384, kRowBlock = 256;  // LinearCrossEntropyShape::keptBytes, LinearCrossEntropy.cpp
    const double row = element * std::ceil(vocabulary / kTile) * kTile;
    const double parts = std::ceil(rows / std::max(32.0, std::floor(kMost / row)));  // of equal size
    return row * rows / std::max(parts, 1.0) + element * kTile * std::min(rows, kRowBlock);
}

// The head's weights packed for the forward and for the backward product.
inline double packedHead(double element, double vocabulary, double width) { return 2 * element * vocabulary * width; }

}  // namespace stepscope
