// The passes of a fused bias + activation over rows, forwards and backwards, for BiasGelu.cu and Swiglu.cu. An Activation takes kParts
// columns in for one that comes out: the parts of a row lie one after the other. Included by *.cu only.
#pragma once
#include "core/cuda/ColumnSums.h"
#include "core/cuda/Elements.cuh"

namespace stepscope::activation {

constexpr int kThreads = 128;
constexpr int kRowsEach = 4;  // rows a thread walks through forwards, so that a bias is read once for several

template <int Parts, int Width>
__device__ __forceinline__ void getBias(const float* bias, std::int64_t columns, std::int64_t column, float (&to)[Parts][Width]) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
#pragma unroll
        for (int k = 0; k < Width; ++k) to[p][k] = 0.0f;
        if (bias) get(bias + p * columns + column, to[p]);
    }
}

template <int Parts, int Width, class T>
__device__ __forceinline__ void getBiased(const T* row, const float (&bias)[Parts][Width], std::int64_t columns, std::int64_t column,
                                          float (&to)[Parts][Width]) {
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
        get(row + p * columns + column, to[p]);
#pragma unroll
        for (int k = 0; k < Width; ++k) to[p][k] += bias[p][k];
    }
}

// A thread owns Width columns of what comes out. gridDim = (packs of a row / kThreads, rows / kRowsEach).
template <class Activation, class T, int Width>
__global__ void __launch_bounds__(kThreads)
    forwardKernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ in, const float* __restrict__ bias, T* __restrict__ out) {
    constexpr int parts = Activation::kParts;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * Width;
    if (column >= columns) return;
    float b[parts][Width];
    getBias(bias, columns, column, b);
#pragma unroll 2
    for (std::int64_t r = blockIdx.y; r < rows; r += gridDim.y) {
        float x[parts][Width], y[Width];
        getBiased(in + r * parts * columns, b, columns, column, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            float each[parts];
#pragma unroll
            for (int p = 0; p < parts; ++p) each[p] = x[p][k];
            y[k] = Activation::value(each);
        }
        put(out + r * columns + column, y);
    }
}

// A thread owns Width columns of one chunk of rows and writes one partial sum a column. gridDim = (packs of a row / kThreads, chunks).
template <class Activation, class T, int Width>
__global__ void __launch_bounds__(kThreads)
    backwardKernel(std::int64_t rows, std::int64_t columns, const T* __restrict__ gradOut, const T* __restrict__ in, const float* __restrict__ bias,
                   T* __restrict__ gradIn, float* __restrict__ partial) {
    constexpr int parts = Activation::kParts;
    const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * Width;
    if (column >= columns) return;
    const launch::Range mine = launch::part(rows, gridDim.y, blockIdx.y);
    float b[parts][Width], sums[parts][Width] = {};
    getBias(bias, columns, column, b);
#pragma unroll 2
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        float g[Width], x[parts][Width];
        get(gradOut + r * columns + column, g);
        getBiased(in + r * parts * columns, b, columns, column, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            float each[parts], gradient[parts];
#pragma unroll
            for (int p = 0; p < parts; ++p) each[p] = x[p][k];
            Activation::gradient(g[k], each, gradient);
#pragma unroll
            for (int p = 0; p < parts; ++p) {
                x[p][k] = gradient[p];
                sums[p][k] += gradient[p];
            }
        }
#pragma unroll
        for (int p = 0; p < parts; ++p) put(gradIn + (r * parts + p) * columns + column, x[p]);
    }
    if (!partial) return;
#pragma unroll
    for (int p = 0; p < parts; ++p)
#pragma unroll
        for (int k = 0; k < Width; ++k) partial[(blockIdx.y * parts + p) * columns + column + k] = sums[p][k];
}

template <class Activation>
const char* forward(const CudaRows& shape, const void* in, const float* bias, void* out) {
    if (const char* why = refuse(shape)) return why;
    if (shape.rows == 0) return nullptr;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        const auto launchWith = [&](auto kernel, int width) {
            const dim3 grid(static_cast<unsigned>(launch::ceilDivide(shape.columns / width, kThreads)),
                            static_cast<unsigned>(launch::clamp(launch::ceilDivide(shape.rows, kRowsEach), 1, launch::kMostGridY)));
            launchKernel(kernel, grid, kThreads, shape.stream, shape.rows, shape.columns, static_cast<const T*>(in), bias, static_cast<T*>(out));
        };
        constexpr int width = 16 / sizeof(T);
        if (launch::packs(shape.columns, width) && aligned(in, bias, out))
            launchWith(forwardKernel<Activation, T, width>, width);
        else
            launchWith(forwardKernel<Activation, T, 1>, 1);
    });
    return launchError();
}

template <class Activation>
const char* backward(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias, void* workspace) {
    if (const char* why = refuse(shape)) return why;
    const std::int64_t chunks = sumChunkCount(shape.rows);
    float* const partial = gradBias ? static_cast<float*>(workspace) : nullptr;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        const auto launchWith = [&](auto kernel, int width) {
            const dim3 grid(static_cast<unsigned>(launch::ceilDivide(shape.columns / width, kThreads)), static_cast<unsigned>(chunks));
            launchKernel(kernel, grid, kThreads, shape.stream, shape.rows, shape.columns, static_cast<const T*>(gradOut), static_cast<const T*>(in),
                         bias, static_cast<T*>(gradIn), partial);
        };
        constexpr int width = 16 / sizeof(T);
        if (launch::packs(shape.columns, width) && aligned(gradOut, in, bias, gradIn))
            launchWith(backwardKernel<Activation, T, width>, width);
        else
            launchWith(backwardKernel<Activation, T, 1>, 1);
    });
    if (gradBias)
        sumChunks(chunks, Activation::kParts * shape.columns, partial, {.first = gradBias, .count = Activation::kParts * shape.columns},
                  shape.stream);
    return launchError();
}

}  // namespace stepscope::activation
