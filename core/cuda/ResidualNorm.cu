// Residual addition + LayerNorm or RMSNorm on the GPU, one block a row, the row in registers between its passes; backwards a block walks
// through a chunk of rows, so that the sums of weight and bias stay in registers too. See core/kernels/residual_norm/NormArguments.h.
#include "core/cuda/ColumnSums.h"
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

constexpr int kRowsWorthwhile = 4, kMostChunks = 1024;

// A thread holds the packs threadIdx.x, threadIdx.x + blockDim.x, ... of a row: Packs of them at most, of Width columns each.
// function(pack in registers, first column)
template <int Packs, int Width, class Function>
__device__ __forceinline__ void eachPack(int columns, Function function) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
        const int column = static_cast<int>(p * blockDim.x + threadIdx.x) * Width;
        if (column < columns) function(p, column);
    }
}

template <class T, int Packs, int Width>
__global__ void __launch_bounds__(1024) forwardKernel(int columns, NormForward<void> norm) {
    const std::int64_t row = blockIdx.x, at = row * columns;
    const float share = 1.0f / static_cast<float>(columns);
    float x[Packs][Width], total[1] = {0.0f};
    eachPack<Packs, Width>(columns, [&](int p, int c) {
        get(norm.x + at + c, x[p]);
        if (norm.delta) {
            float d[Width];
            get(static_cast<const T*>(norm.delta) + at + c, d);
#pragma unroll
            for (int k = 0; k < Width; ++k) x[p][k] += d[k];
            put(norm.sum + at + c, x[p]);
        }
#pragma unroll
        for (int k = 0; k < Width; ++k) total[0] += x[p][k];
    });
    float mean = 0.0f;
    if (!norm.rms) {
        sumOverBlock(total);
        mean = total[0] * share;
    }
    // The mean of squares less the square of the mean would lose the digits of a large mean.
    float squares[1] = {0.0f};
    eachPack<Packs, Width>(columns, [&](int p, int) {
#pragma unroll
        for (int k = 0; k < Width; ++k) squares[0] += (x[p][k] - mean) * (x[p][k] - mean);
    });
    sumOverBlock(squares);
    const float scale = 1.0f / sqrtf(squares[0] * share + norm.epsilon);
    if (threadIdx.x == 0) {
        if (!norm.rms) norm.mean[row] = mean;
        norm.rstd[row] = scale;
    }
    eachPack<Packs, Width>(columns, [&](int p, int c) {
        float w[Width], b[Width] = {};
        get(norm.weight + c, w);
        if (norm.bias) get(norm.bias + c, b);
#pragma unroll
        for (int k = 0; k < Width; ++k) w[k] = (x[p][k] - mean) * scale * w[k] + b[k];
        put(static_cast<T*>(norm.normed) + at + c, w);
    });
}

template <int Width, class T>
__device__ __forceinline__ Pack<T, Width> packAt(const T* from) {
    return *reinterpret_cast<const Pack<T, Width>*>(from);
}

// share: 1 / columns. Bounds: without the 1 some compilers spare registers by spilling.
template <class T, int Packs, int Width>
__global__ void __launch_bounds__(1024, 1)
    backwardKernel(std::int64_t rows, int columns, float share, NormBackward<void> norm, float* __restrict__ partial) {
    constexpr bool held = Packs * Width <= 8;  // a wider row does not stay in registers: it is read a second time, out of the cache
    const launch::Range mine = launch::part(rows, gridDim.x, blockIdx.x);
    float gradWeight[Packs][Width] = {}, gradBias[Packs][Width] = {};
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
        const std::int64_t at = r * columns;
        const float mean = norm.rms ? 0.0f : norm.mean[r], scale = norm.rstd[r];
        Pack<T, Width> gradNormed[held ? Packs : 1];
        Pack<float, Width> hat[held ? Packs : 1], along[held ? Packs : 1] = {};
        const auto read = [&](int to, int c) {
            gradNormed[to] = packAt<Width>(static_cast<const T*>(norm.gradNormed) + at + c);
            hat[to] = packAt<Width>(norm.sum + at + c);
            if (norm.gradResidual) along[to] = packAt<Width>(norm.gradResidual + at + c);
        };
        const auto normalise = [&](int which) {
#pragma unroll
            for (int k = 0; k < Width; ++k) hat[which].values[k] = (hat[which].values[k] - mean) * scale;
        };
        // All of a row is asked for before the first of it is waited for.
        if (held) eachPack<Packs, Width>(columns, read);
        float sums[2] = {0.0f, 0.0f};
        eachPack<Packs, Width>(columns, [&](int p, int c) {
            const int h = held ? p : 0;
            if (!held) read(h, c);
            normalise(h);
            float w[Width];
            get(norm.weight + c, w);
#pragma unroll
            for (int k = 0; k < Width; ++k) {
                const float g = toFloat(gradNormed[h].values[k]), scaled = g * w[k];
                gradWeight[p][k] += g * hat[h].values[k];
                gradBias[p][k] += g;
                sums[0] += scaled;
                sums[1] += scaled * hat[h].values[k];
            }
        });
        sumOverBlock(sums);
        const float plain = norm.rms ? 0.0f : sums[0] * share, alongHat = sums[1] * share;
        eachPack<Packs, Width>(columns, [&](int p, int c) {
            const int h = held ? p : 0;
            if (!held) {
                read(h, c);
                normalise(h);
            }
            float w[Width];
            get(norm.weight + c, w);
#pragma unroll
            for (int k = 0; k < Width; ++k)
                w[k] = along[h].values[k] + (toFloat(gradNormed[h].values[k]) * w[k] - plain - hat[h].values[k] * alongHat) * scale;
            put(norm.gradSum + at + c, w);
            if (norm.gradDelta) put(static_cast<T*>(norm.gradDelta) + at + c, w);
        });
    }
    float* const own = partial + static_cast<std::int64_t>(blockIdx.x) * 2 * columns;
    eachPack<Packs, Width>(columns, [&](int p, int c) {
        put(own + c, gradWeight[p]);
        put(own + columns + c, gradBias[p]);
    });
}

const char* refuseNorm(const CudaRows& shape) {
    if (shape.columns > kMostNormColumns) return "residual + norm takes rows of at most 16384 columns on a GPU; switch fused-norm off.";
    return refuse(shape);
}

// kernels(Packs, Width): packs of four where rows begin at multiples of them, else sixteen single elements; two packs a thread where that
// is enough, for they cost registers.
template <class Launch>
void withPacks(const CudaRows& shape, bool wide, Launch launchWith) {
    if (!wide) return launchWith(std::integral_constant<int, 16>{}, std::integral_constant<int, 1>{}, launch::threadsFor(shape.columns, 8));
    const int threads = launch::threadsFor(shape.columns / 4, 2);
    if (shape.columns <= 2 * 4 * 1024) return launchWith(std::integral_constant<int, 2>{}, std::integral_constant<int, 4>{}, threads);
    launchWith(std::integral_constant<int, 4>{}, std::integral_constant<int, 4>{}, threads);
}

}  // namespace

std::size_t residualNormWorkspaceBytes(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(launch::rowChunks(rows, kRowsWorthwhile, kMostChunks) * 2 * columns) * sizeof(float);
}

const char* residualNormForward(const CudaRows& shape, const NormForward<void>& norm) {
    if (const char* why = refuseNorm(shape)) return why;
    if (shape.rows == 0) return nullptr;
    const bool wide = launch::packs(shape.columns, 4) && aligned(norm.x, norm.delta, norm.weight, norm.bias, norm.sum, norm.normed);
    withElement(shape.scalar, [&](auto element) {
        withPacks(shape, wide, [&](auto packs, auto width, int threads) {
            launchKernel(forwardKernel<decltype(element), packs.value, width.value>, static_cast<unsigned>(shape.rows), threads, shape.stream,
                         static_cast<int>(shape.columns), norm);
        });
    });
    return launchError();
}

const char* residualNormBackward(const CudaRows& shape, const NormBackward<void>& norm, void* workspace) {
    if (const char* why = refuseNorm(shape)) return why;
    auto* const partial = static_cast<float*>(workspace);
    const std::int64_t chunks = launch::rowChunks(shape.rows, kRowsWorthwhile, kMostChunks);
    const bool wide =
        launch::packs(shape.columns, 4) && aligned(norm.gradNormed, norm.sum, norm.weight, norm.gradResidual, norm.gradSum, norm.gradDelta);
    withElement(shape.scalar, [&](auto element) {
        withPacks(shape, wide, [&](auto packs, auto width, int threads) {
            launchKernel(backwardKernel<decltype(element), packs.value, width.value>, static_cast<unsigned>(chunks), threads, shape.stream,
                         shape.rows, static_cast<int>(shape.columns), 1.0f / static_cast<float>(shape.columns), norm, partial);
        });
    });
    sumChunks(chunks, 2 * shape.columns, partial, {norm.gradWeight, shape.columns, norm.gradBias}, shape.stream);
    return launchError();
}

}  // namespace stepscope
