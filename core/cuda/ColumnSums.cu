// Column sums: the bias gradient where nothing else is done in the same pass, and the second stage of those where something is.
#include "core/cuda/ColumnSums.h"
#include "core/cuda/Elements.cuh"

namespace stepscope {
namespace {

constexpr int kThreads = 128;
constexpr int kRowsWorthwhile = 16, kMostChunks = 512;  // partial sums are a sixteenth of what is read, at most
constexpr int kTile = 32;

// One thread owns Width columns of one chunk. gridDim = (packs of a row / kThreads, chunks).
template <class T, int Width>
__global__ void __launch_bounds__(kThreads)
    chunkSumsKernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ in, float* __restrict__ partial) {
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * Width;
    if (column >= columns) return;
    const launch::Range mine = launch::part(rows, gridDim.y, blockIdx.y);
    float sums[Width] = {};
#pragma unroll 4
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        float x[Width];
        get(in + r * columns + column, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) sums[k] += x[k];
    }
#pragma unroll
    for (int k = 0; k < Width; ++k) partial[blockIdx.y * columns + column + k] = sums[k];
}

// A tile of kTile columns; row y of the block takes chunks y, y + kTile, ...
__global__ void __launch_bounds__(kTile* kTile)
    sumChunksKernel(std::int64_t chunks, std::int64_t columns, const float* __restrict__ partial, ColumnSumsPlace sums) {
    __shared__ float tile[kTile][kTile];
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
    float sum = 0.0f;
    if (column < columns) {
#pragma unroll 4
        for (std::int64_t chunk = threadIdx.y; chunk < chunks; chunk += kTile) sum += partial[chunk * columns + column];
    }
    tile[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= columns) return;
    for (int y = 1; y < kTile; ++y) sum += tile[y][threadIdx.x];
    if (column < sums.count) {
        if (sums.first) sums.first[column] = sum;
    } else if (sums.rest)
        sums.rest[column - sums.count] = sum;
}

template <class T, int Width>
void launchChunkSums(const CudaRows& s, const void* in, float* partial) {
    const dim3 grid(static_cast<unsigned>(launch::ceilDivide(s.columns / Width, kThreads)), static_cast<unsigned>(sumChunkCount(s.rows)));
    launchKernel(chunkSumsKernel<T, Width>, grid, kThreads, s.stream, s.rows, s.columns, static_cast<const T*>(in), partial);
}

}  // namespace

std::int64_t sumChunkCount(std::int64_t rows) {
    return launch::rowChunks(rows, kRowsWorthwhile, kMostChunks);
}

void sumChunks(std::int64_t chunks, std::int64_t columns, const float* partial, ColumnSumsPlace sums, void* stream) {
    launchKernel(sumChunksKernel, static_cast<unsigned>(launch::ceilDivide(columns, kTile)), dim3(kTile, kTile), stream, chunks, columns, partial,
                 sums);
}

std::size_t columnSumsWorkspaceBytes(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(sumChunkCount(rows) * columns) * sizeof(float);
}

const char* columnSums(const CudaRows& shape, const void* in, float* sums, void* workspace) {
    if (const char* why = refuse(shape)) return why;
    auto* const partial = static_cast<float*>(workspace);
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        constexpr int width = 16 / sizeof(T);
        if (launch::packs(shape.columns, width) && aligned(in))
            launchChunkSums<T, width>(shape, in, partial);
        else
            launchChunkSums<T, 1>(shape, in, partial);
    });
    sumChunks(sumChunkCount(shape.rows), shape.columns, partial, {.first = sums, .count = shape.columns}, shape.stream);
    return launchError();
}

}  // namespace stepscope
