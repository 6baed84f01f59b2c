// What the head takes beside logits when linear + cross-entropy is one operation (core/kernels/linear_cross_entropy): in a planned step for good, under
// autograd while it runs. Sizes are in bytes. Used by EagerMemory and PlannedMemory.
#pragma once
#include <algorithm>
#include <cmath>

namespace stepscope {

// Exponentials of the logits, for the rows that are kept at a time, and a block of them as it is worked on: whole tiles of the vocabulary.
inline double keptExponentials(double element, double rows, double vocabulary) {
    constexpr double kMost = 52e6, kTile = 384, kRowBlock = 256;  // LinearCrossEntropyShape::keptBytes, LinearCrossEntropy.cpp
    return std::min(element * rows * std::ceil(vocabulary / kTile) * kTile, kMost) + element * kTile * std::min(rows, kRowBlock);
}

// The head's weights packed for the forward and for the backward product.
inline double packedHead(double element, double vocabulary, double width) { return 2 * element * vocabulary * width; }

}  // namespace stepscope
