// A kernel over a grid of blocks, put onto a stream. nvcc's own notation for that stands here alone, so that a host compiler reads the kernels too:
// tests/core/cuda/emulation runs them where no GPU is. Included by Elements.cuh only.
#pragma once
#include <cuda_runtime.h>

namespace stepscope {

// stream: a cudaStream_t. What went wrong is asked for with launchError().
#if defined(__CUDACC__)
template <class... Parameters, class... Arguments>
void launchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void* stream, const Arguments&... arguments) {
    kernel<<<grid, block, 0, static_cast<cudaStream_t>(stream)>>>(arguments...);
}
#else
template <class... Parameters, class... Arguments>
void launchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void* stream, const Arguments&... arguments) {
    emulation::launch({reinterpret_cast<const void*>(kernel), stream, grid, block}, [&] { kernel(arguments...); });
}
#endif

}  // namespace stepscope
