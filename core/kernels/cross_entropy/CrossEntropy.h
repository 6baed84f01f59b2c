// Softmax cross-entropy and its gradient: the plain reference in double that every fast version is held against. Called by tests; any
// thread, no state.
#pragma once
#include <cstdint>
#include <span>

namespace stepscope {

struct CrossEntropyShape {
    std::int64_t columns = 0;     // from one row of logits to the next, >= vocabulary; those beyond it get the gradient 0
    std::int64_t vocabulary = 0;  // ids that can occur
    float smoothing = 0;          // this share of the target is spread over all ids (Szegedy et al. 2016)
    float gradientScale = 1;      // usually 1 / number of rows
};

// losses[r] = cross-entropy of row r in nats; gradient gets gradientScale * d losses[r] / d logits[r]. Every target is in [0, vocabulary).
void crossEntropyRows(CrossEntropyShape shape, std::span<const float> logits, std::span<const std::int64_t> targets, std::span<float> losses,
                      std::span<float> gradient);

}  // namespace stepscope
