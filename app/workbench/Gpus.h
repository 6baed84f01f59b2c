// What the CUDA plug-in says of this machine's GPUs, as the rest of the engine wants it.
#pragma once
#include <functional>
#include <optional>

#include "core/cuda/loader/CudaPlugin.h"
#include "core/events/RunEvents.h"

namespace stepscope {

// Fills machine.gpus and driver, or whyNoCuda with the calm sentence.
void describeGpus(Machine& machine, const CudaPlugin& plugin);

// Adds NVML's numbers of a GPU to a sample; empty where there is no usable GPU. device: as in "cuda:1".
std::function<void(DeviceSample&)> gpuSampler(std::int32_t device, const CudaPlugin& plugin);

// Memory of a GPU now. A run of ours can have both: the allocator reuses what it holds.
struct GpuMemory {
    Bytes free;  // that nobody has taken, as NVML says
    Bytes ours;  // that LibTorch's allocator holds in this process, handed out or kept
};
// Nothing where NVML cannot tell, or where what it tells is of another card than `gpu`: a machine that is only thought of. device: number of the GPU.
// Any thread.
std::optional<GpuMemory> gpuMemory(const Gpu& gpu, std::int32_t device, const CudaPlugin& plugin);

}  // namespace stepscope
