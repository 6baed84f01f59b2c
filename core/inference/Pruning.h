// Pruning: the smallest weights become zeros (Han et al., "Learning both weights and connections for efficient neural networks", 2015), or the
// smallest heads of the attention. Of the matrices of the blocks alone: embedding, head of the vocabulary, biases and norms stay. Called by `prune`
// and by the curve of the page Inference; the calling thread.
#pragma once
#include <vector>

#include "core/inference/PruneScope.h"
#include "core/model/ParameterLayout.h"

namespace stepscope {

struct Pruning {
    double share = 0.5;  // of the weights, or of the heads, that become zero; without a pattern
    PruneScope scope = PruneScope::Global;
    std::int64_t kept = 0;  // with a pattern kept:of, such as 2:4, of so many neighbours along a row the largest `kept` stay (Mishra et al.,
    std::int64_t of = 0;    //   "Accelerating sparse deep neural networks", 2021); 0 = none
};

// "2:4"; the sentence says what a pattern is.
Result<Pruning> patternNamed(const std::string& word);

struct PruneCount {
    std::int64_t zeros = 0, weights = 0;  // of those matrices, zeros of before included
    std::int64_t heads = 0;               // that this pruning took; 0 = it took weights one by one
};

// In place, on the CPU; every weight is a number. model: of those weights.
PruneCount prune(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model, const Pruning& pruning);

// What a head weighs: the root of the sum of the squares of all weights that are its own, its rows of the matrices of query, key and value and its
// columns of the projection behind them. A magnitude: it asks no data, unlike the sensitivity of the loss by which Michel et al. ("Are sixteen heads
// really better than one?", 2019) choose heads. Layer by layer, (layers * heads).
std::vector<double> headNorms(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model);

}  // namespace stepscope
