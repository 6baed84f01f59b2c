// Token + position embedding on the GPU. Backwards the tokens come sorted by id: the block of the first token of an id sums all rows of
// that id, in the order of the tokens, so that no atomic decides. See core/kernels/embedding/EmbeddingCpu.h.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

// One block a token. The columns of a row are shared among its threads.
template <int Width>
__global__ void __launch_bounds__(1024) forwardKernel(std::int64_t columns, CudaEmbedding embedding, const float* __restrict__ wte, const float* __restrict__ wpe,
                                                      float* __restrict__ out) {
    const std::int64_t row = blockIdx.x, id = embedding.ids[row], position = row % embedding.context;
    const bool known = id >= 0 && id < embedding.vocabulary;
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float x[Width], p[Width] = {};
        if (wpe) get(wpe + position * columns + c, p);
        if (known) get(wte + id * columns + c, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) x[k] = known ? x[k] + p[k] : NAN;
        put(out + row * columns + c, x);
    }
}

template <int Width>
__global__ void __launch_bounds__(1024) backwardKernel(std::int64_t rows, std::int64_t columns, CudaEmbedding sorted, const std::int64_t* __restrict__ order,
                                                       const float* __restrict__ gradOut, float* __restrict__ gradWte) {
    const std::int64_t first = blockIdx.x, id = sorted.ids[first];
    if (id < 0 || id >= sorted.vocabulary || (first > 0 && sorted.ids[first - 1] == id)) return;
    std::int64_t end = first + 1;
    while (end < rows && sorted.ids[end] == id) ++end;
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float sum[Width];
        get(gradWte + id * columns + c, sum);
#pragma unroll 4
        for (std::int64_t i = first; i < end; ++i) {
            float g[Width];
            get(gradOut + order[i] * columns + c, g);
#pragma unroll
            for (int k = 0; k < Width; ++k) sum[k] += g[k];
        }
        put(gradWte + id * columns + c, sum);
    }
}

// One block a position.
template <int Width>
__global__ void __launch_bounds__(1024) positionKernel(std::int64_t rows, std::int64_t columns, std::int64_t context, const float* __restrict__ gradOut,
                                                       float* __restrict__ gradWpe) {
    const std::int64_t position = blockIdx.x;
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float sum[Width] = {};
#pragma unroll 4
        for (std::int64_t r = position; r < rows; r += context) {
            float g[Width];
            get(gradOut + r * columns + c, g);
#pragma unroll
            for (int k = 0; k < Width; ++k) sum[k] += g[k];
        }
        put(gradWpe + position * columns + c, sum);
    }
}

// function(Width, threads), four columns an access where rows begin at multiples of them.
template <class Function>
void withWidth(const CudaRows& shape, bool wide, Function function) {
    if (wide && launch::packs(shape.columns, 4)) function(std::integral_constant<int, 4>{}, launch::threadsFor(shape.columns / 4, 1));
    else function(std::integral_constant<int, 1>{}, launch::threadsFor(shape.columns, 1));
}

}  // namespace

const char* embeddingForward(const CudaRows& shape, const CudaEmbedding& embedding, const float* wte, const float* wpe, float* out) {
    if (const char* why = refuse(shape)) return why;
    if (shape.rows == 0) return nullptr;
    withWidth(shape, aligned(wte, wpe, out), [&](auto width, int threads) {
        launchKernel(forwardKernel<width.value>, static_cast<unsigned>(shape.rows), threads, shape.stream, shape.columns, embedding, wte, wpe, out);
    });
    return launchError();
}

const char* embeddingBackward(const CudaRows& shape, const CudaEmbedding& sorted, const std::int64_t* order, const float* gradOut, float* gradWte) {
    if (const char* why = refuse(shape)) return why;
    if (shape.rows == 0) return nullptr;
    withWidth(shape, aligned(gradOut, gradWte), [&](auto width, int threads) {
        launchKernel(backwardKernel<width.value>, static_cast<unsigned>(shape.rows), threads, shape.stream, shape.rows, shape.columns, sorted, order, gradOut, gradWte);
    });
    return launchError();
}

const char* positionBackward(const CudaRows& shape, std::int64_t context, const float* gradOut, float* gradWpe) {
    if (const char* why = refuse(shape)) return why;
    if (context < 1) return "the embedding's backward pass was called with a context below 1.";
    withWidth(shape, aligned(gradOut, gradWpe), [&](auto width, int threads) {
        launchKernel(positionKernel<width.value>, static_cast<unsigned>(context), threads, shape.stream, shape.rows, shape.columns, context, gradOut, gradWpe);
    });
    return launchError();
}

}  // namespace stepscope
