// What activities of a device are called, in the words of PyTorch's profiler, so that other tools know them: "Memcpy HtoD (Pinned -> Device)".
#pragma once
#include <string>

#include "core/cuda/CudaActivity.h"

namespace stepscope {

// Of a kernel its C++ name ("void gemm<float>(...)"), of a call its function without CUDA's number of the ABI ("cudaLaunchKernel").
std::string activityName(const CudaActivity& activity);
// As compilers mangle C++ names; what is no such name stays as it is.
std::string demangled(const char* name);

}  // namespace stepscope
