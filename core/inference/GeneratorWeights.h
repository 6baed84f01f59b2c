// GeneratorWeights: a model as text is written with it and as `eval` reads with it.
#pragma once
#include "core/model/ParameterLayout.h"

namespace stepscope {

struct GeneratorWeights {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;  // own copy, on the CPU or a GPU
};

}  // namespace stepscope
