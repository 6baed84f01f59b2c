// What the CUDA plug-in says of this machine's GPUs, as the rest of the engine wants it.
#pragma once
#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/Event.h"

#include <functional>

namespace stepscope {

// Fills machine.gpus and driver, or whyNoCuda with the calm sentence.
void describeGpus(Machine& machine, const CudaPlugin& plugin);

// Adds NVML's numbers of the first GPU to a sample; empty where there is no usable GPU.
std::function<void(DeviceSample&)> gpuSampler(const CudaPlugin& plugin);

}  // namespace stepscope
