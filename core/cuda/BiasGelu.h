// The launchers of BiasGelu.cu, as they stand in CudaInterface. Inside the plug-in only; any thread.
#pragma once
#include "core/cuda/CudaInterface.h"

namespace stepscope {

const char* biasGeluForward(const CudaBiasGelu& shape, const void* in, const void* bias, void* out);
const char* biasGeluBackward(const CudaBiasGelu& shape, const void* gradOut, const void* in, const void* bias, void* gradIn, void* gradBias,
                             void* workspace);
std::size_t biasGeluWorkspaceBytes(std::int64_t rows, std::int64_t columns);

}  // namespace stepscope
