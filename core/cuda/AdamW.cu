// Global norm, clipping and AdamW on the GPU over lists of parameters (ParameterList.cuh), in one pass each. Arithmetic of an element:
// core/kernels/adamw/AdamWStep.h.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"
#include "core/cuda/ParameterList.cuh"

namespace stepscope {
namespace {

constexpr int kThreads = 256, kWidth = 4;
constexpr std::int64_t kChunk = 16384;  // elements a block takes
// GPT-2 has 12 a layer. A launch takes 32764 bytes of arguments since CUDA 12.1 and Volta (CUDA C++ Programming Guide, "Kernel parameters").
using List = ParameterList<CudaParameter, 512, kChunk>;
static_assert(sizeof(List) + 64 <= 32764);

// function(list, chunks before it).
template <class Function>
std::int64_t eachList(const CudaUpdate& update, Function function) {
    return List::each(update.parameters, update.count, function);
}

template <class... Pointers>
__device__ __forceinline__ bool wide(Pointers... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

__global__ void __launch_bounds__(kThreads) squaresKernel(const __grid_constant__ List list, double* __restrict__ partial) {
    const auto chunk = static_cast<std::int32_t>(blockIdx.x);
    const int which = list.parameterOf(chunk);
    const launch::Range range = list.rangeOf(which, chunk);
    const float* const g = list.parameters[which].gradient;
    float sum[1] = {0.0f};
    std::int64_t i = range.begin;
    if (wide(g)) {
        for (i += static_cast<std::int64_t>(threadIdx.x) * kWidth; i + kWidth <= range.end; i += kThreads * kWidth) {
            float x[kWidth];
            get(g + i, x);
#pragma unroll
            for (int k = 0; k < kWidth; ++k) sum[0] += x[k] * x[k];
        }
        i = range.begin + (range.end - range.begin) / kWidth * kWidth;
    }
    for (i += threadIdx.x; i < range.end; i += kThreads) sum[0] += g[i] * g[i];
    sumOverBlock(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum[0];
}

__global__ void __launch_bounds__(1024) normKernel(std::int64_t count, const double* __restrict__ partial, float* __restrict__ norm) {
    __shared__ double sums[1024];
    double sum = 0.0;
    for (std::int64_t i = threadIdx.x; i < count; i += 1024) sum += partial[i];
    sums[threadIdx.x] = sum;
    for (unsigned half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *norm = static_cast<float>(sqrt(sums[0]));
}

__global__ void __launch_bounds__(kThreads)
    adamWKernel(const __grid_constant__ List list, const AdamWStep* __restrict__ step, const float* __restrict__ norm, float maxNorm) {
    AdamWStep s = *step;
    if (norm) {
        if (!isfinite(*norm)) return;
        if (maxNorm > 0.0f) s.gradientScale *= clipFactor(*norm, maxNorm);
    }
    const auto chunk = static_cast<std::int32_t>(blockIdx.x);
    const int which = list.parameterOf(chunk);
    const launch::Range range = list.rangeOf(which, chunk);
    const CudaParameter p = list.parameters[which];
    auto* const low = static_cast<__nv_bfloat16*>(p.low);
    std::int64_t i = range.begin;
    if (wide(p.gradient, p.weight, p.first, p.second, low)) {
        for (i += static_cast<std::int64_t>(threadIdx.x) * kWidth; i + kWidth <= range.end; i += kThreads * kWidth) {
            float g[kWidth], w[kWidth], m[kWidth], v[kWidth];
            get(p.gradient + i, g);
            get(p.weight + i, w);
            get(p.first + i, m);
            get(p.second + i, v);
#pragma unroll
            for (int k = 0; k < kWidth; ++k) adamWElement(s, g[k], w[k], m[k], v[k]);
            put(p.weight + i, w);
            put(p.first + i, m);
            put(p.second + i, v);
            if (low) put(low + i, w);
        }
        i = range.begin + (range.end - range.begin) / kWidth * kWidth;
    }
    for (i += threadIdx.x; i < range.end; i += kThreads) {
        adamWElement(s, p.gradient[i], p.weight[i], p.first[i], p.second[i]);
        if (low) fromFloat(low[i], p.weight[i]);
    }
}

}  // namespace

std::size_t globalNormWorkspaceBytes(const CudaUpdate& list) {
    return static_cast<std::size_t>(eachList(list, [](const List&, std::int64_t) {})) * sizeof(double);
}

const char* globalNorm(const CudaUpdate& update, float* norm, void* workspace) {
    auto* const partial = static_cast<double*>(workspace);
    const std::int64_t chunks = eachList(update, [&](const List& list, std::int64_t before) {
        launchKernel(squaresKernel, static_cast<unsigned>(list.chunks), kThreads, update.stream, list, partial + before);
    });
    launchKernel(normKernel, 1, 1024, update.stream, chunks, partial, norm);
    return launchError();
}

const char* adamW(const CudaUpdate& update, const AdamWStep* step, const float* norm, float maxNorm) {
    eachList(update, [&](const List& list, std::int64_t) {
        launchKernel(adamWKernel, static_cast<unsigned>(list.chunks), kThreads, update.stream, list, step, norm, maxNorm);
    });
    return launchError();
}

}  // namespace stepscope
