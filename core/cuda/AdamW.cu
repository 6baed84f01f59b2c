// Global norm, clipping and AdamW on the GPU over lists of parameters, in one pass each: the list travels in the kernel's arguments, so that
// no table has to be copied to the device. Arithmetic of an element: core/kernels/adamw/AdamWStep.h.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

constexpr int kThreads = 256, kWidth = 4;
constexpr std::int64_t kChunk = 16384;  // elements a block takes
constexpr int kMostListed = 64;         // parameters of one launch: 4 KB is what every device takes as arguments

struct List {
    CudaParameter parameters[kMostListed];
    std::int32_t firstChunk[kMostListed];  // of each parameter; chunks are numbered through the list
    std::int32_t count = 0, chunks = 0;
};
static_assert(sizeof(List) + 64 <= 4096);

// function(list, chunks before it) for the whole list in pieces of one launch.
template <class Function>
std::int64_t eachList(const CudaUpdate& update, Function function) {
    std::int64_t before = 0;
    for (std::int64_t begin = 0; begin < update.count; begin += kMostListed) {
        List list;
        for (; list.count < kMostListed && begin + list.count < update.count; ++list.count) {
            list.parameters[list.count] = update.parameters[begin + list.count];
            list.firstChunk[list.count] = list.chunks;
            list.chunks += static_cast<std::int32_t>(launch::ceilDivide(list.parameters[list.count].count, kChunk));
        }
        if (list.chunks > 0) function(list, before);
        before += list.chunks;
    }
    return before;
}

struct Piece {
    CudaParameter parameter;
    launch::Range range;
};
__device__ __forceinline__ Piece pieceOf(const List& list, std::int32_t chunk) {
    const int which = launch::entryAt(list.firstChunk, list.count, chunk);
    const CudaParameter parameter = list.parameters[which];
    const std::int64_t begin = (chunk - list.firstChunk[which]) * kChunk;
    return {parameter, {begin, begin + kChunk < parameter.count ? begin + kChunk : parameter.count}};
}

template <class... Pointers>
__device__ __forceinline__ bool wide(Pointers... pointers) {
    return ((reinterpret_cast<std::uintptr_t>(pointers) % 16 == 0) && ...);
}

__global__ void __launch_bounds__(kThreads) squaresKernel(const __grid_constant__ List list, double* __restrict__ partial) {
    const Piece piece = pieceOf(list, static_cast<std::int32_t>(blockIdx.x));
    const float* const g = piece.parameter.gradient;
    float sum[1] = {0.0f};
    std::int64_t i = piece.range.begin;
    if (wide(g)) {
        for (i += static_cast<std::int64_t>(threadIdx.x) * kWidth; i + kWidth <= piece.range.end; i += kThreads * kWidth) {
            float x[kWidth];
            get(g + i, x);
#pragma unroll
            for (int k = 0; k < kWidth; ++k) sum[0] += x[k] * x[k];
        }
        i = piece.range.begin + (piece.range.end - piece.range.begin) / kWidth * kWidth;
    }
    for (i += threadIdx.x; i < piece.range.end; i += kThreads) sum[0] += g[i] * g[i];
    sumOverBlock(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum[0];
}

__global__ void __launch_bounds__(1024) normKernel(std::int64_t count, const double* __restrict__ partial, float* __restrict__ norm) {
    __shared__ double sums[1024];
    double sum = 0.0;
    for (std::int64_t i = threadIdx.x; i < count; i += 1024) sum += partial[i];
    sums[threadIdx.x] = sum;
    for (int half = 512; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *norm = static_cast<float>(sqrt(sums[0]));
}

__global__ void __launch_bounds__(kThreads) adamWKernel(const __grid_constant__ List list, const AdamWStep* __restrict__ step, const float* __restrict__ norm,
                                                        float maxNorm) {
    AdamWStep s = *step;
    if (norm) {
        if (!isfinite(*norm)) return;
        if (maxNorm > 0.0f) s.gradientScale *= clipFactor(*norm, maxNorm);
    }
    const Piece piece = pieceOf(list, static_cast<std::int32_t>(blockIdx.x));
    const CudaParameter& p = piece.parameter;
    auto* const low = static_cast<__nv_bfloat16*>(p.low);
    std::int64_t i = piece.range.begin;
    if (wide(p.gradient, p.weight, p.first, p.second, low)) {
        for (i += static_cast<std::int64_t>(threadIdx.x) * kWidth; i + kWidth <= piece.range.end; i += kThreads * kWidth) {
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
        i = piece.range.begin + (piece.range.end - piece.range.begin) / kWidth * kWidth;
    }
    for (i += threadIdx.x; i < piece.range.end; i += kThreads) {
        adamWElement(s, p.gradient[i], p.weight[i], p.first[i], p.second[i]);
        if (low) fromFloat(low[i], p.weight[i]);
    }
}

}  // namespace

std::size_t globalNormWorkspaceBytes(const CudaUpdate& list) {
    return static_cast<std::size_t>(eachList(list, [](const List&, std::int64_t) {})) * sizeof(double);
}

const char* globalNorm(const CudaUpdate& update, float* norm, void* workspace) {
    const auto stream = static_cast<cudaStream_t>(update.stream);
    auto* const partial = static_cast<double*>(workspace);
    const std::int64_t chunks = eachList(
        update, [&](const List& list, std::int64_t before) { squaresKernel<<<static_cast<unsigned>(list.chunks), kThreads, 0, stream>>>(list, partial + before); });
    normKernel<<<1, 1024, 0, stream>>>(chunks, partial, norm);
    return launchError();
}

const char* adamW(const CudaUpdate& update, const AdamWStep* step, const float* norm, float maxNorm) {
    eachList(update, [&](const List& list, std::int64_t) {
        adamWKernel<<<static_cast<unsigned>(list.chunks), kThreads, 0, static_cast<cudaStream_t>(update.stream)>>>(list, step, norm, maxNorm);
    });
    return launchError();
}

}  // namespace stepscope
