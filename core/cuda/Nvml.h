// Readings of the NVIDIA management library, opened with dlopen at the first call: it belongs to the driver, not to us.
// Inside the plug-in only; any thread. Each function returns null or a sentence, as CudaInterface.h says.
#pragma once
#include "core/cuda/CudaInterface.h"

namespace stepscope {

const char* gpuCount(std::int32_t* count);
const char* describeGpu(std::int32_t device, CudaGpuDescription* description);
const char* sampleGpu(std::int32_t device, CudaGpuSample* sample);
const char* othersOnGpu(std::int32_t device, CudaGpuOthers* others);

}  // namespace stepscope
