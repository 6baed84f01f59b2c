// DeviceMeter: what NVML says of a GPU while a capture goes on: how busy, memory, power, energy, temperature, clock, why the clock is low, PCIe. Read
// by KernelSource's thread each time that it fetches; handed on as a block of samples (core/trace/Sample.h). One thread.
#pragma once
#include "core/cuda/CudaInterface.h"
#include "core/trace/Sample.h"

namespace stepscope {

class DeviceMeter {
public:
    DeviceMeter(const CudaInterface& cuda, std::int64_t device);
    // Reads it once; what the device cannot tell is left out. at: ns of the session's clock.
    void read(std::int64_t at);
    // What was read since the last time; no samples where nothing was.
    SampleBlock take();

private:
    const CudaInterface& m_cuda;
    std::int64_t m_device;
    SampleBlock m_block;
};

}  // namespace stepscope
