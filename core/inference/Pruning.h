// Pruning: the smallest weights become zeros (Han et al., "Learning both weights and connections for efficient neural networks", 2015). Of the
// matrices of the blocks alone: embedding, head, biases and norms stay. Called by `prune`; the calling thread.
#pragma once
#include "core/base/Result.h"
#include "core/model/ParameterLayout.h"

namespace stepscope {

struct Pruning {
    double share = 0.5;       // of the weights, that become zero; without a pattern
    bool eachMatrix = false;  // the share of each matrix, instead of all of them together
    std::int64_t kept = 0;    // with a pattern kept:of, such as 2:4, of so many neighbours along a row the largest `kept` stay (Mishra et al.,
    std::int64_t of = 0;      //   "Accelerating sparse deep neural networks", 2021); 0 = none
};

// "2:4"; the sentence says what a pattern is.
Result<Pruning> patternNamed(const std::string& word);

struct PruneCount {
    std::int64_t zeros = 0, weights = 0;  // of those matrices, zeros of before included
};

// In place, on the CPU; every weight is a number.
PruneCount prune(const at::Tensor& weights, const ParameterLayout& layout, const Pruning& pruning);

}  // namespace stepscope
