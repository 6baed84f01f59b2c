// Token + position embedding on the GPU. Backwards the tokens come sorted by id and a block sums a span of them, run by run of one id: what begins
// in the span goes to the table, what goes on from the span before to a partial sum, and a second kernel adds those in the order of the spans. So
// however frequent an id is no block has more than a span, and no atomic decides.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

constexpr int kSpan = 32;       // sorted tokens of a block
constexpr int kRowsAtOnce = 4;  // asked for before the first is waited for; divides kSpan

// One block a token. The columns of a row are shared among its threads.
template <int Width>
__global__ void __launch_bounds__(1024) forwardKernel(std::int64_t columns, CudaEmbedding embedding, const float* __restrict__ wte,
                                                      const float* __restrict__ wpe, float* __restrict__ out) {
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

// One block a span. partial (spans, columns): of each the sum of the run that goes on from the span before.
template <int Width>
__global__ void __launch_bounds__(1024)
    backwardKernel(std::int64_t rows, std::int64_t columns, CudaEmbedding sorted, const std::int64_t* __restrict__ order,
                   const float* __restrict__ gradOut, float* __restrict__ gradWte, float* __restrict__ partial) {
    constexpr std::int64_t nowhere = -1, onwards = -2;
    __shared__ std::int64_t from[kSpan], to[kSpan + 1];  // where rows begin in gradOut, and runs in gradWte; onwards: no run begins here
    const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kSpan;
    const int count = static_cast<int>(rows - begin < kSpan ? rows - begin : kSpan);
    for (int i = threadIdx.x; i <= kSpan; i += blockDim.x) {
        to[i] = nowhere;
        if (i >= count) continue;
        const std::int64_t id = sorted.ids[begin + i];
        from[i] = order[begin + i] * columns;
        if (begin + i > 0 && sorted.ids[begin + i - 1] == id)
            to[i] = onwards;
        else if (id >= 0 && id < sorted.vocabulary)
            to[i] = id * columns;
    }
    __syncthreads();
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float sum[Width] = {};
        float* goal = partial + blockIdx.x * columns + c;
        for (int first = 0; first < count; first += kRowsAtOnce) {
            float g[kRowsAtOnce][Width], before[kRowsAtOnce][Width] = {};
#pragma unroll
            for (int n = 0; n < kRowsAtOnce; ++n) {
                if (first + n < count) get(gradOut + from[first + n] + c, g[n]);
                if (to[first + n] >= 0) get(gradWte + to[first + n] + c, before[n]);
            }
#pragma unroll
            for (int n = 0; n < kRowsAtOnce; ++n) {
                const int i = first + n;
                if (i >= count) break;
                if (to[i] != onwards) goal = to[i] == nowhere ? nullptr : gradWte + to[i] + c;
#pragma unroll
                for (int k = 0; k < Width; ++k) sum[k] = (to[i] == onwards ? sum[k] : before[n][k]) + g[n][k];
                if (goal && to[i + 1] != onwards) put(goal, sum);
            }
        }
    }
}

// One block a span but the first. That of the first span into which an id goes on adds up all that it left behind. Bounds: without the 1 registers
// are spared, and loads wait for each other.
template <int Width>
__global__ void __launch_bounds__(1024, 1)
    partialsKernel(int spans, std::int64_t columns, CudaEmbedding sorted, const float* __restrict__ partial, float* __restrict__ gradWte) {
    const auto idAt = [&](int span, int place) { return sorted.ids[static_cast<std::int64_t>(span) * kSpan + place]; };
    const int span = static_cast<int>(blockIdx.x) + 1;
    const std::int64_t id = idAt(span, 0);
    if (id < 0 || id >= sorted.vocabulary || idAt(span, -1) != id || (span > 1 && idAt(span - 1, -1) == id)) return;
    int end = span + 1;  // of the spans that the id goes on into, sought by halves
    for (int beyond = spans; end < beyond;) {
        const int middle = (end + beyond) / 2;
        if (idAt(middle, 0) == id)
            end = middle + 1;
        else
            beyond = middle;
    }
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float sum[Width];
        get(gradWte + id * columns + c, sum);
#pragma unroll 8
        for (int s = span; s < end; ++s) {
            float run[Width];
            get(partial + s * columns + c, run);
#pragma unroll
            for (int k = 0; k < Width; ++k) sum[k] += run[k];
        }
        put(gradWte + id * columns + c, sum);
    }
}

// One block a position.
template <int Width>
__global__ void __launch_bounds__(1024, 1)
    positionKernel(std::int64_t rows, std::int64_t columns, std::int64_t context, const float* __restrict__ gradOut, float* __restrict__ gradWpe) {
    const std::int64_t position = blockIdx.x;
    const int sequences = static_cast<int>((rows - position + context - 1) / context);
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += static_cast<std::int64_t>(blockDim.x) * Width) {
        float sum[Width] = {};
#pragma unroll 4
        for (int s = 0; s < sequences; ++s) {
            float g[Width];
            get(gradOut + (s * context + position) * columns + c, g);
#pragma unroll
            for (int k = 0; k < Width; ++k) sum[k] += g[k];
        }
        put(gradWpe + position * columns + c, sum);
    }
}

// function(Width, threads), four columns an access where rows begin at multiples of them.
template <class Function>
void withWidth(const CudaRows& shape, bool wide, Function function) {
    if (wide && launch::packs(shape.columns, 4))
        function(std::integral_constant<int, 4>{}, launch::threadsFor(shape.columns / 4, 1));
    else
        function(std::integral_constant<int, 1>{}, launch::threadsFor(shape.columns, 1));
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

std::size_t embeddingBackwardWorkspaceBytes(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(launch::ceilDivide(rows, kSpan) * columns) * sizeof(float);
}

const char* embeddingBackward(const CudaRows& shape, const CudaEmbedding& sorted, const std::int64_t* order, const float* gradOut, float* gradWte,
                              void* workspace) {
    if (const char* why = refuse(shape)) return why;
    if (shape.rows == 0) return nullptr;
    auto* const partial = static_cast<float*>(workspace);
    const std::int64_t spans = launch::ceilDivide(shape.rows, kSpan);
    withWidth(shape, aligned(gradOut, gradWte, partial), [&](auto width, int threads) {
        launchKernel(backwardKernel<width.value>, static_cast<unsigned>(spans), threads, shape.stream, shape.rows, shape.columns, sorted, order,
                     gradOut, gradWte, partial);
        if (spans == 1) return;
        launchKernel(partialsKernel<width.value>, static_cast<unsigned>(spans - 1), threads, shape.stream, static_cast<int>(spans), shape.columns,
                     sorted, partial, gradWte);
    });
    return launchError();
}

const char* positionBackward(const CudaRows& shape, std::int64_t context, const float* gradOut, float* gradWpe) {
    if (const char* why = refuse(shape)) return why;
    if (context < 1) return "the embedding's backward pass was called with a context below 1.";
    withWidth(shape, aligned(gradOut, gradWpe), [&](auto width, int threads) {
        launchKernel(positionKernel<width.value>, static_cast<unsigned>(context), threads, shape.stream, shape.rows, shape.columns, context, gradOut,
                     gradWpe);
    });
    return launchError();
}

}  // namespace stepscope
