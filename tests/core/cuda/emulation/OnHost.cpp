// See OnHost.h; and the two calls of the CUDA runtime that the kernels' launches ask.
#include "OnHost.h"

#include <cuda_runtime.h>

extern "C" const stepscope::CudaInterface* stepscope_cuda_interface(int version);

extern "C" cudaError_t CUDARTAPI cudaPeekAtLastError() { return cudaSuccess; }
extern "C" const char* CUDARTAPI cudaGetErrorString(cudaError_t) { return "no error"; }

extern "C" __attribute__((visibility("default"))) const stepscope::CudaInterface* stepscope_cuda_on_host() {
    static const stepscope::CudaInterface table = [] {
        stepscope::CudaInterface all = *stepscope_cuda_interface(stepscope::kCudaInterfaceVersion);
        all.onHost = true;
        return all;
    }();
    return &table;
}
