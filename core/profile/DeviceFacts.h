// What a GPU is, as a chunk of kind "device/1" in the lane of its ordinal: a JSON object with the fields that traces of PyTorch's profiler have in
// "deviceProperties", and clocks, bus and bandwidth of its memory. Published beside the first slices of that device.
#pragma once
#include "core/cuda/CudaInterface.h"
#include "core/trace/Chunk.h"

namespace stepscope {

constexpr const char* kDeviceFacts = "device/1";

// Null where the driver does not describe it.
ChunkPtr deviceFacts(const CudaInterface& cuda, std::int64_t device, TimeNs at);

}  // namespace stepscope
