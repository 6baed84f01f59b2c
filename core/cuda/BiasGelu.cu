// Fused bias + GELU (tanh form) on the GPU, forwards and backwards, in float32 and bfloat16, 16 bytes a thread and access.
// Launched through CudaInterface; every launch goes onto the caller's stream and nothing here waits for the device.
// Reference: core/kernels/bias_gelu/. Arithmetic is float32 whatever the storage.
#include "core/cuda/BiasGelu.h"

#include "core/kernels/bias_gelu/BiasGeluMath.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace stepscope {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxRowChunks = 64;   // partial sums of the bias gradient per column, at most
constexpr int kRowsPerChunk = 64;   // below this a chunk is not worth a block

__device__ __forceinline__ float load(float v) { return v; }
__device__ __forceinline__ float load(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ __forceinline__ void store(float& to, float v) { to = v; }
__device__ __forceinline__ void store(__nv_bfloat16& to, float v) { to = __float2bfloat16_rn(v); }

// Width values that travel in one access; Width is 16 bytes' worth, or 1 where columns or pointers are not aligned.
template <class T, int Width>
struct alignas(sizeof(T) * Width) Pack {
    T values[Width];
};

// Grid-stride over packs; `columns` is a multiple of Width, so a pack never crosses a row.
template <class T, int Width>
__global__ void __launch_bounds__(kThreads) forwardKernel(std::int64_t packs, std::int64_t packsPerRow, const T* __restrict__ in,
                                                          const T* __restrict__ bias, T* __restrict__ out) {
    using P = Pack<T, Width>;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < packs; i += stride) {
        const P x = reinterpret_cast<const P*>(in)[i];
        const P b = reinterpret_cast<const P*>(bias)[i % packsPerRow];
        P y;
#pragma unroll
        for (int k = 0; k < Width; ++k) store(y.values[k], bias_gelu::value(load(x.values[k]) + load(b.values[k])));
        reinterpret_cast<P*>(out)[i] = y;
    }
}

// One thread owns Width columns of one chunk of rows: it writes gradIn and one partial sum a column, so that no atomic
// decides the order of the sum. gridDim = (column packs / kThreads, chunks).
template <class T, int Width>
__global__ void __launch_bounds__(kThreads) backwardKernel(std::int64_t rows, std::int64_t columns, std::int64_t rowsPerChunk,
                                                           const T* __restrict__ gradOut, const T* __restrict__ in,
                                                           const T* __restrict__ bias, T* __restrict__ gradIn,
                                                           float* __restrict__ partial) {
    using P = Pack<T, Width>;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * Width;
    if (column >= columns) return;
    const std::int64_t first = blockIdx.y * rowsPerChunk;
    const std::int64_t last = first + rowsPerChunk < rows ? first + rowsPerChunk : rows;
    const P b = *reinterpret_cast<const P*>(bias + column);
    float sums[Width] = {};
    for (std::int64_t r = first; r < last; ++r) {
        const std::int64_t i = r * columns + column;
        const P g = *reinterpret_cast<const P*>(gradOut + i);
        const P x = *reinterpret_cast<const P*>(in + i);
        P d;
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            const float value = load(g.values[k]) * bias_gelu::derivative(load(x.values[k]) + load(b.values[k]));
            sums[k] += value;
            store(d.values[k], value);
        }
        *reinterpret_cast<P*>(gradIn + i) = d;
    }
#pragma unroll
    for (int k = 0; k < Width; ++k) partial[blockIdx.y * columns + column + k] = sums[k];
}

template <class T>
__global__ void __launch_bounds__(kThreads) sumChunksKernel(std::int64_t columns, int chunks, const float* __restrict__ partial,
                                                            T* __restrict__ gradBias) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0f;
    for (int chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * columns + column];
    store(gradBias[column], sum);
}

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t chunkCount(std::int64_t rows) {
    const std::int64_t wanted = ceilDivide(rows, kRowsPerChunk);
    return wanted < 1 ? 1 : wanted > kMaxRowChunks ? kMaxRowChunks : wanted;
}

template <class... Pointers>
bool aligned(Pointers... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

const char* launchError() {
    const cudaError_t error = cudaPeekAtLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template <class T, int Width>
void launchForward(const CudaBiasGelu& s, const void* in, const void* bias, void* out) {
    const std::int64_t packs = s.rows * s.columns / Width;
    const std::int64_t blocks = ceilDivide(packs, kThreads);
    // 2^20 blocks fill any device many times over; the grid-stride loop takes the rest.
    const int grid = static_cast<int>(blocks < (1 << 20) ? blocks : (1 << 20));
    forwardKernel<T, Width><<<grid, kThreads, 0, static_cast<cudaStream_t>(s.stream)>>>(
        packs, s.columns / Width, static_cast<const T*>(in), static_cast<const T*>(bias), static_cast<T*>(out));
}

template <class T, int Width>
void launchBackward(const CudaBiasGelu& s, const void* gradOut, const void* in, const void* bias, void* gradIn, void* gradBias,
                    float* partial) {
    const auto stream = static_cast<cudaStream_t>(s.stream);
    const std::int64_t chunks = chunkCount(s.rows);
    const dim3 grid(static_cast<unsigned>(ceilDivide(s.columns / Width, kThreads)), static_cast<unsigned>(chunks));
    backwardKernel<T, Width><<<grid, kThreads, 0, stream>>>(s.rows, s.columns, ceilDivide(s.rows, chunks), static_cast<const T*>(gradOut),
                                                            static_cast<const T*>(in), static_cast<const T*>(bias),
                                                            static_cast<T*>(gradIn), partial);
    sumChunksKernel<T><<<static_cast<unsigned>(ceilDivide(s.columns, kThreads)), kThreads, 0, stream>>>(
        s.columns, static_cast<int>(chunks), partial, static_cast<T*>(gradBias));
}

template <class T>
void forwardOf(const CudaBiasGelu& s, const void* in, const void* bias, void* out) {
    constexpr int width = 16 / sizeof(T);
    if (s.columns % width == 0 && aligned(in, bias, out))
        launchForward<T, width>(s, in, bias, out);
    else
        launchForward<T, 1>(s, in, bias, out);
}

template <class T>
void backwardOf(const CudaBiasGelu& s, const void* gradOut, const void* in, const void* bias, void* gradIn, void* gradBias, float* partial) {
    constexpr int width = 16 / sizeof(T);
    if (s.columns % width == 0 && aligned(gradOut, in, bias, gradIn))
        launchBackward<T, width>(s, gradOut, in, bias, gradIn, gradBias, partial);
    else
        launchBackward<T, 1>(s, gradOut, in, bias, gradIn, gradBias, partial);
}

const char* refuse(const CudaBiasGelu& s) {
    if (s.rows < 0 || s.columns < 1) return "bias + GELU was called with a negative number of rows or without columns.";
    if (s.scalar != CudaScalar::Float32 && s.scalar != CudaScalar::BFloat16) return "bias + GELU runs in float32 and bfloat16 only.";
    return nullptr;
}

}  // namespace

std::size_t biasGeluWorkspaceBytes(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(chunkCount(rows) * columns) * sizeof(float);
}

const char* biasGeluForward(const CudaBiasGelu& shape, const void* in, const void* bias, void* out) {
    if (const char* why = refuse(shape)) return why;
    if (shape.rows == 0) return nullptr;
    if (shape.scalar == CudaScalar::Float32)
        forwardOf<float>(shape, in, bias, out);
    else
        forwardOf<__nv_bfloat16>(shape, in, bias, out);
    return launchError();
}

const char* biasGeluBackward(const CudaBiasGelu& shape, const void* gradOut, const void* in, const void* bias, void* gradIn, void* gradBias,
                             void* workspace) {
    if (const char* why = refuse(shape)) return why;
    if (shape.scalar == CudaScalar::Float32)
        backwardOf<float>(shape, gradOut, in, bias, gradIn, gradBias, static_cast<float*>(workspace));
    else
        backwardOf<__nv_bfloat16>(shape, gradOut, in, bias, gradIn, gradBias, static_cast<float*>(workspace));
    return launchError();
}

}  // namespace stepscope
