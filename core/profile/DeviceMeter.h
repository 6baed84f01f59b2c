// DeviceMeter: what NVML says of a GPU while a capture goes on: how busy, memory, power, energy, temperature, clock, why the clock is low, PCIe. Read
// by KernelSource's thread each time that it fetches; handed on as blocks of samples (core/trace/Sample.h). One thread.
#pragma once
#include <cstddef>
#include <functional>

#include "core/cuda/CudaInterface.h"
#include "core/trace/Sample.h"

namespace stepscope {

class DeviceMeter {
public:
    using Out = std::function<void(SampleBlock)>;
    static constexpr std::size_t kFull = 4096;  // samples of a block, a minute or more of them: a capture may go on for hours

    DeviceMeter(const CudaInterface& cuda, std::int64_t device, std::int64_t rank, Out out);
    // Reads it once; what the device cannot tell is left out. at: ns of the session's clock. Hands on what is a full block by then.
    void read(std::int64_t at);
    // Hands on what was read since; nothing where there is none.
    void finish();

private:
    const CudaInterface& m_cuda;
    std::int64_t m_device;
    Out m_out;
    SampleBlock m_block;
};

}  // namespace stepscope
