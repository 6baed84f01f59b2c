// Softmax cross-entropy on the GPU, the gradient written over the logits: one block a row, two passes over it (maximum and sum together,
// then the gradient). See core/kernels/cross_entropy/CrossEntropy.h; the arithmetic of the first pass is OnlineSoftmax.h.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"
#include "core/kernels/cross_entropy/OnlineSoftmax.h"

namespace stepscope {
namespace {

// Of the whole block, in every thread, merged in a fixed order. Called once a kernel.
__device__ __forceinline__ OnlineSoftmax mergeOverBlock(OnlineSoftmax mine) {
    __shared__ float largest[launch::kWarp], sums[launch::kWarp];
    for (int distance = launch::kWarp / 2; distance > 0; distance /= 2)
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, distance), __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    const int warp = threadIdx.x / launch::kWarp, warps = blockDim.x / launch::kWarp;
    if (threadIdx.x % launch::kWarp == 0) {
        largest[warp] = mine.largest;
        sums[warp] = mine.sum;
    }
    __syncthreads();
    OnlineSoftmax all{largest[0], sums[0]};
    for (int w = 1; w < warps; ++w) all = merge(all, {largest[w], sums[w]});
    return all;
}

template <class T, int Width>
__global__ void __launch_bounds__(1024) crossEntropyKernel(std::int64_t columns, CudaCrossEntropy loss) {
    const std::int64_t row = blockIdx.x, vocabulary = loss.vocabulary, stride = static_cast<std::int64_t>(blockDim.x) * Width;
    T* const logits = static_cast<T*>(loss.logits) + row * columns;
    const std::int64_t target = loss.targets[row];
    const bool known = target >= 0 && target < vocabulary;

    OnlineSoftmax mine;
    float plain[1] = {0.0f};  // sum of the logits, which label smoothing asks for
    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < vocabulary; c += stride) {
        float x[Width];
        get(logits + c, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            if (c + k < vocabulary) plain[0] += x[k];
            else x[k] = -INFINITY;
        }
        mine = include(mine, x);
    }
    const OnlineSoftmax all = mergeOverBlock(mine);
    const float logSum = all.largest + logf(all.sum), spread = loss.smoothing / static_cast<float>(vocabulary), sharp = 1.0f - loss.smoothing;
    if (loss.smoothing > 0.0f) sumOverBlock(plain);
    // Read before anybody writes a gradient over it; every thread waits for that in the barrier.
    if (threadIdx.x == 0) loss.losses[row] = known ? logSum - sharp * toFloat(logits[target]) - (loss.smoothing > 0.0f ? spread * plain[0] : 0.0f) : NAN;
    if (!loss.wantsGradient) return;
    __syncthreads();

    for (std::int64_t c = static_cast<std::int64_t>(threadIdx.x) * Width; c < columns; c += stride) {
        float x[Width];
        get(logits + c, x);
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            const float share = c + k == target ? spread + sharp : spread;
            x[k] = c + k < vocabulary ? loss.gradientScale * (exponential(x[k] - logSum) - share) : 0.0f;
            if (!known) x[k] = NAN;
        }
        put(logits + c, x);
    }
}

}  // namespace

const char* crossEntropy(const CudaRows& shape, const CudaCrossEntropy& loss) {
    if (const char* why = refuse(shape)) return why;
    if (loss.vocabulary < 1 || loss.vocabulary > shape.columns) return "cross-entropy was called with a vocabulary that does not fit its logits.";
    if (shape.rows == 0) return nullptr;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        constexpr int width = 16 / sizeof(T);
        const auto launchWith = [&](auto kernel, int columnsEach) {
            const int threads = launch::threadsFor(shape.columns / columnsEach, 6);
            launchKernel(kernel, static_cast<unsigned>(shape.rows), threads, shape.stream, shape.columns, loss);
        };
        if (launch::packs(shape.columns, width) && aligned(loss.logits)) launchWith(crossEntropyKernel<T, width>, width);
        else launchWith(crossEntropyKernel<T, 1>, 1);
    });
    return launchError();
}

}  // namespace stepscope
