// Finds out whether this machine can run CUDA and, if so, loads LibTorch's CUDA half and our plug-in into the process.
// Called by initialiseEngine() as the first statement of main(), on the main thread, before any ATen call: ATen settles
// for good which CUDA hooks it has at its first question about CUDA. Torch-free; never prints, aborts or throws.
#pragma once
#include <string>

#include "core/cuda/CudaGraphs.h"
#include "core/cuda/CudaInterface.h"

namespace stepscope {

struct CudaPlugin {
    const CudaInterface* interface = nullptr;  // lives as long as the process; null when the plug-in is not loaded
    const CudaGraphs* graphs = nullptr;        // null when steps cannot be captured
    bool torchCuda = false;                    // libtorch_cuda is loaded: tensors can live on a GPU
    bool onHost = false;                       // the kernels take tensors of the CPU: so in tests/core/cuda/emulation alone
    std::string whyNot;                        // a sentence for the person when interface or torchCuda is missing, else empty
    std::string whyNoGraphs;                   // the same of graphs

    bool usable() const { return interface && torchCuda; }
};

// Which files are opened, in this order. Names without a slash are searched as the dynamic linker does (for libtorch_cuda
// that is the executable's RPATH into the wheel). Tests pass their own.
struct CudaLibraries {
    std::string driver = "libcuda.so.1";
    std::string torchCuda = "libtorch_cuda.so";
    std::string plugin;  // empty = beside the executable, or in ../lib/stepscope next to it
    std::string graphs;  // the same
};

CudaPlugin loadCudaPlugin(const CudaLibraries& libraries = {});

// The plug-in of this process: loaded at the first call, the same at every later one. STEPSCOPE_CUDA_PLUGIN names one that lies elsewhere, with
// libstepscope_cuda_graphs.so beside it.
const CudaPlugin& cudaPlugin();

// Whether the CUDA form of an operation is the one for `t`. Tensor: LibTorch's, which this folder does not see.
template <class Tensor>
bool takesCudaForm(const Tensor& t) {
    return t.is_cuda() || cudaPlugin().onHost;
}

}  // namespace stepscope
