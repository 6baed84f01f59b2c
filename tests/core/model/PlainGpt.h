// An independent restatement of GPT-2's loss and of every gradient, in double precision with plain loops: no tensor library, no
// autograd. Slow and obvious; what the model is checked against. Formulas: Radford et al. 2019; layer norm: Ba et al. 2016;
// GELU(tanh): Hendrycks and Gimpel 2016.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stepscope {

struct PlainShape {
    int layers, heads, width, vocabulary, context;
};

// Parameters by GPT-2's names; linear weights (out, in), row by row.
using PlainParameters = std::map<std::string, std::vector<double>>;

struct PlainResult {
    double loss = 0;             // mean cross-entropy over all positions
    std::vector<double> logits;  // (B, T, V)
    PlainParameters gradients;
};

PlainResult plainGpt(const PlainShape& shape, const PlainParameters& parameters, const std::vector<std::int64_t>& inputs,
                     const std::vector<std::int64_t>& targets);

}  // namespace stepscope
