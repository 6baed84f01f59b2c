// What the kernels share: elements of the three scalars read and written as float32, several in one access; sums over a block in a fixed
// order; errors of a launch as a sentence. Included by *.cu only.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "core/cuda/CudaInterface.h"
#include "core/cuda/KernelLaunch.cuh"
#include "core/cuda/Launch.h"

namespace stepscope {

__device__ __forceinline__ float toFloat(float v) {
    return v;
}
__device__ __forceinline__ float toFloat(__nv_bfloat16 v) {
    return __bfloat162float(v);
}
__device__ __forceinline__ float toFloat(__half v) {
    return __half2float(v);
}
__device__ __forceinline__ void fromFloat(float& to, float v) {
    to = v;
}
__device__ __forceinline__ void fromFloat(__nv_bfloat16& to, float v) {
    to = __float2bfloat16_rn(v);
}
__device__ __forceinline__ void fromFloat(__half& to, float v) {
    to = __float2half_rn(v);
}

// Width values that travel in accesses of 16 bytes at most. Their address is a multiple of that.
template <class T, int Width>
struct alignas(sizeof(T) * Width < 16 ? sizeof(T) * Width : 16) Pack {
    T values[Width];
};

template <int Width, class T>
__device__ __forceinline__ void get(const T* from, float (&to)[Width]) {
    const Pack<T, Width> pack = *reinterpret_cast<const Pack<T, Width>*>(from);
#pragma unroll
    for (int k = 0; k < Width; ++k) to[k] = toFloat(pack.values[k]);
}
template <int Width, class T>
__device__ __forceinline__ void put(T* to, const float (&from)[Width]) {
    Pack<T, Width> pack;
#pragma unroll
    for (int k = 0; k < Width; ++k) fromFloat(pack.values[k], from[k]);
    *reinterpret_cast<Pack<T, Width>*>(to) = pack;
}

// values[n] = their sum over the block, in every thread. Called by all threads of a block of whole warps.
template <int Count>
__device__ __forceinline__ void sumOverBlock(float (&values)[Count]) {
    __shared__ float parts[launch::kWarp][Count];
    const int warp = threadIdx.x / launch::kWarp, warps = blockDim.x / launch::kWarp;
#pragma unroll
    for (int n = 0; n < Count; ++n) {
        for (int distance = launch::kWarp / 2; distance > 0; distance /= 2) values[n] += __shfl_xor_sync(0xffffffffu, values[n], distance);
        if (threadIdx.x % launch::kWarp == 0) parts[warp][n] = values[n];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < Count; ++n) {
        values[n] = 0.0f;
        for (int w = 0; w < warps; ++w) values[n] += parts[w][n];
    }
    __syncthreads();  // before the next call writes
}

template <class... Pointers>
bool aligned(Pointers... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

// Takes the error along: left behind it would be thrown at whoever launches next on this thread.
inline const char* launchError() {
    const cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

inline const char* refuse(const CudaRows& shape) {
    if (shape.rows < 0 || shape.columns < 1) return "a fused operation was called with a negative number of rows or without columns.";
    if (shape.scalar != CudaScalar::Float32 && shape.scalar != CudaScalar::BFloat16 && shape.scalar != CudaScalar::Float16)
        return "the fused operations run in float32, bfloat16 and float16 only.";
    return nullptr;
}

// function(element) with a value of the scalar's type. refuse() came before.
template <class Function>
void withElement(CudaScalar scalar, Function function) {
    switch (scalar) {
        case CudaScalar::Float32:
            return function(float{});
        case CudaScalar::BFloat16:
            return function(__nv_bfloat16{});
        case CudaScalar::Float16:
            return function(__half{});
    }
}

}  // namespace stepscope
