// cudaPlugin() for tests of core/fused and core/train: the CUDA forms compiled for the host, so that every operation takes the way that it takes on a
// GPU, over tensors of the CPU. Takes the place of core/cuda/loader/ProcessPlugin.cpp.
#include "OnHost.h"
#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {

const CudaPlugin& cudaPlugin() {
    static const CudaPlugin onHost = [] {
        CudaPlugin plugin;
        plugin.interface = stepscope_cuda_on_host();
        plugin.onHost = true;
        return plugin;
    }();
    return onHost;
}

}  // namespace stepscope
