// The tensors of a model as GPT-2 has them, whatever its own form: query, key and value in one projection, and a bias wherever GPT-2 has one. Made
// when they are asked for. Used by WeightsExport.
#pragma once
#include <vector>

#include "core/model/GptConfig.h"
#include "core/state/SafeTensors.h"

namespace stepscope {

// In the order of the layers, by GPT-2's names without a prefix, linear weights (in, out). The source must outlive them.
std::vector<TensorToWrite> gpt2Tensors(TensorSource& source, const GptConfig& model);

}  // namespace stepscope
