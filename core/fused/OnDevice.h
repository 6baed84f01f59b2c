// The one place where a fused operation's CPU and CUDA forms part: by the device that its tensors lie on. What the CUDA forms take is made
// of tensors here. Included by core/fused/*.cpp only.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/model/DeviceStream.h"

namespace stepscope::fused {

inline CudaScalar scalarOf(at::ScalarType type) {
    return type == at::kBFloat16 ? CudaScalar::BFloat16 : type == at::kHalf ? CudaScalar::Float16 : CudaScalar::Float32;
}

inline CudaRows rowsOf(const at::Tensor& like, at::ScalarType type, std::int64_t rows, std::int64_t columns) {
    return {.scalar = scalarOf(type), .rows = rows, .columns = columns, .stream = streamOf(like.device())};
}
inline CudaRows rowsOf(const at::Tensor& like, std::int64_t rows, std::int64_t columns) {
    return rowsOf(like, like.scalar_type(), rows, columns);
}

inline void* data(const at::Tensor& t) {
    return t.defined() ? t.data_ptr() : nullptr;
}
inline float* floats(const at::Tensor& t) {
    return t.defined() ? t.data_ptr<float>() : nullptr;
}

inline at::Tensor workspace(std::size_t bytes, const at::Tensor& like) {
    return at::empty({static_cast<std::int64_t>(bytes)}, like.options().dtype(at::kByte));
}

// cuda(interface) on the GPU of `like`, as one named operation; it returns what the interface's functions return, and a sentence is thrown.
template <class Cuda>
void onCuda(const char* name, const at::Tensor& like, OperationWork work, Cuda cuda) {
    const OperationSpan span(name, 0, work);
    const c10::DeviceGuard guard(like.device());
    const char* why = cuda(*cudaPlugin().interface);
    TORCH_CHECK(why == nullptr, why);
}

// The CPU's form names its own parts.
template <class Cpu, class Cuda>
void onDevice(const char* name, const at::Tensor& like, OperationWork work, Cpu cpu, Cuda cuda) {
    if (takesCudaForm(like))
        onCuda(name, like, work, cuda);
    else
        cpu();
}

}  // namespace stepscope::fused
