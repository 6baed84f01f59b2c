// The loss of a GPT with any model option, restated in double precision with plain loops: no tensor library. What the model's
// options are checked against; gradients follow from it by differences.
#pragma once
#include "PlainGpt.h"
#include "core/model/Gpt.h"

namespace stepscope {

// Mean cross-entropy over all positions. inputs, targets: (B, T) row by row.
double plainLoss(const GptConfig& config, const PlainParameters& parameters, const std::vector<std::int64_t>& inputs,
                 const std::vector<std::int64_t>& targets, int context, const Regularisation& training);

}  // namespace stepscope
