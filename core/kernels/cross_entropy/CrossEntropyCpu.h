// Softmax cross-entropy on the CPU over a range of rows of logits, with the gradient written in their place. Called by core/fused and by
// linear + cross-entropy over row blocks that are in cache; any thread. T is float or Bf16, arithmetic is float32. The maximum and the
// sum are taken in one pass (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct CrossEntropyShape {
    std::int64_t columns = 0;     // from one row of logits to the next, >= vocabulary; those beyond it get the gradient 0
    std::int64_t vocabulary = 0;  // ids that can occur
    float smoothing = 0;          // this share of the target is spread over all ids (Szegedy et al. 2016)
    float gradientScale = 1;      // usually 1 / number of rows
};

template <class T>
struct CrossEntropyTable {
    // losses[r] = cross-entropy of row r in nats; gradient, when not null, gets gradientScale * d losses[r] / d logits[r] and may be logits
    // itself. Every target is in [0, vocabulary): not checked here. Rows [begin, end).
    void (*rows)(CrossEntropyShape shape, const T* logits, const std::int64_t* targets, float* losses, T* gradient, std::int64_t begin, std::int64_t end);
};
STEPSCOPE_ISA_TABLES(CrossEntropyTable, crossEntropy)

}  // namespace stepscope
