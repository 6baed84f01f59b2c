// The stream that LibTorch works on now, for who puts work of their own beside it. Header only; any thread.
#pragma once
#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace stepscope {

// LibTorch's current stream there, a cudaStream_t; null on the CPU.
inline void* streamOf(at::Device device) {
    if (device.is_cpu()) return nullptr;
    const c10::impl::VirtualGuardImpl gpu(device.type());
    return gpu.getStreamNativeHandle(gpu.getStream(device));
}

}  // namespace stepscope
