// Softmax cross-entropy on the GPU, the gradient written over the logits: one block a row, two passes over it (maximum and sum together,
// then the gradient), the row in registers between them where it fits. See core/kernels/cross_entropy/CrossEntropy.h; the arithmetic of the
// first pass is OnlineSoftmax.h.
#include <cstring>
#include <type_traits>

#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"
#include "core/kernels/cross_entropy/OnlineSoftmax.h"

namespace stepscope {
namespace {

constexpr int kHeldPacks = 8;  // of 16 bytes: half the registers of a thread where a block has 1024
constexpr std::int64_t kMostColumns = 1 << 30;

// Of a warp. What counts is what its first thread has: the others may differ in the last bit.
__device__ __forceinline__ OnlineSoftmax mergeOverWarp(OnlineSoftmax mine) {
    for (int distance = launch::kWarp / 2; distance > 0; distance /= 2)
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, distance), __shfl_xor_sync(0xffffffffu, mine.sum, distance)});
    return mine;
}

// Of the whole block, in every thread, merged in a fixed order. Called once a kernel.
__device__ __forceinline__ OnlineSoftmax mergeOverBlock(OnlineSoftmax mine) {
    __shared__ float largest[launch::kWarp], sums[launch::kWarp];
    const int warp = threadIdx.x / launch::kWarp, warps = blockDim.x / launch::kWarp, lane = threadIdx.x % launch::kWarp;
    mine = mergeOverWarp(mine);
    if (lane == 0) {
        largest[warp] = mine.largest;
        sums[warp] = mine.sum;
    }
    __syncthreads();
    if (warp == 0 && warps > 1) {
        mine = lane < warps ? OnlineSoftmax{largest[lane], sums[lane]} : OnlineSoftmax{};
        mine = mergeOverWarp(mine);
        if (lane == 0) {
            largest[0] = mine.largest;
            sums[0] = mine.sum;
        }
    }
    __syncthreads();
    return {largest[0], sums[0]};
}

// Width elements as words: the compiler would give every element of 16 bits a register of its own.
template <class T, int Width>
struct Held {
    static constexpr int kEach = 4 / sizeof(T);  // elements of a word
    unsigned words[(Width + kEach - 1) / kEach];

    __device__ __forceinline__ void get(const T* from) {
        const Pack<T, Width> pack = *reinterpret_cast<const Pack<T, Width>*>(from);
        std::memcpy(words, &pack, sizeof pack);
    }
    __device__ __forceinline__ float operator[](int k) const {
        const auto bits = static_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>(words[k / kEach] >> k % kEach * 16);
        T element;
        std::memcpy(static_cast<void*>(&element), &bits, sizeof element);
        return toFloat(element);
    }
};

// Packs: of a thread at most, which stay in registers between the passes; those of a warp lie beside each other, so that their addresses differ by
// constants. 0 = any number of packs, read in both passes.
template <class T, int Width, int Packs>
__global__ void __launch_bounds__(1024, Packs > 0 ? 1 : 2) crossEntropyKernel(int columns, CudaCrossEntropy loss) {
    const std::int64_t row = blockIdx.x;
    const int thread = threadIdx.x, warp = thread / launch::kWarp, lane = thread % launch::kWarp;
    // From here on columns are counted from this thread's first one.
    const int first = (Packs > 0 ? warp * Packs * launch::kWarp + lane : thread) * Width;
    const int width = columns - first, vocabulary = static_cast<int>(loss.vocabulary) - first;
    T* const logits = static_cast<T*>(loss.logits) + row * columns + first;
    Held<T, Width> held[Packs > 0 ? Packs : 1];
    // function(place in held, first column) for this thread's packs that begin before `end`.
    const auto eachPack = [&](int end, auto function) {
        if constexpr (Packs > 0) {
#pragma unroll
            for (int p = 0; p < Packs; ++p)
                if (p * launch::kWarp * Width < end) function(p, p * launch::kWarp * Width);
        } else {
            for (int c = 0; c < end; c += static_cast<int>(blockDim.x) * Width) {
                held[0].get(logits + c);
                function(0, c);
            }
        }
    };
    if constexpr (Packs > 0) eachPack(width, [&](int p, int c) { held[p].get(logits + c); });

    OnlineSoftmax mine;
    float plain[1] = {0.0f};  // sum of the logits, which label smoothing asks for
    eachPack(vocabulary, [&](int p, int c) {
        float x[Width];
        const bool whole = c + Width <= vocabulary;
#pragma unroll
        for (int k = 0; k < Width; ++k) {
            x[k] = held[p][k];
            if (whole) plain[0] += x[k];
        }
        if (!whole) {
#pragma unroll
            for (int k = 0; k < Width; ++k) {
                if (c + k < vocabulary)
                    plain[0] += x[k];
                else
                    x[k] = -INFINITY;
            }
        }
        mine = include(mine, x);
    });
    const bool known = loss.targets[row] >= 0 && loss.targets[row] < loss.vocabulary;
    const int target = known ? static_cast<int>(loss.targets[row]) - first : -1;
    T ofTarget{};
    if (threadIdx.x == 0 && known) ofTarget = logits[target];  // before anybody writes a gradient over it: barriers follow
    const OnlineSoftmax all = mergeOverBlock(mine);
    const float logSum = all.largest + logf(all.sum), spread = loss.smoothing / static_cast<float>(loss.vocabulary), sharp = 1.0f - loss.smoothing;
    if (loss.smoothing > 0.0f) sumOverBlock(plain);
    if (threadIdx.x == 0) loss.losses[row] = known ? logSum - sharp * toFloat(ofTarget) - (loss.smoothing > 0.0f ? spread * plain[0] : 0.0f) : NAN;
    if (!loss.wantsGradient) return;

    const float scale = known ? loss.gradientScale : NAN, padding = known ? 0.0f : NAN;
    eachPack(width, [&](int p, int c) {
        float x[Width];
#pragma unroll
        for (int k = 0; k < Width; ++k) x[k] = exponential(held[p][k] - logSum) - spread;
        if (target >= c && target < c + Width) {
#pragma unroll
            for (int k = 0; k < Width; ++k) x[k] -= c + k == target ? sharp : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < Width; ++k) x[k] *= scale;
        if (c + Width > vocabulary) {
#pragma unroll
            for (int k = 0; k < Width; ++k) x[k] = c + k < vocabulary ? x[k] : padding;
        }
        put(logits + c, x);
    });
}

}  // namespace

const char* crossEntropy(const CudaRows& shape, const CudaCrossEntropy& loss) {
    if (const char* why = refuse(shape)) return why;
    if (loss.vocabulary < 1 || loss.vocabulary > shape.columns) return "cross-entropy was called with a vocabulary that does not fit its logits.";
    if (shape.columns > kMostColumns) return "cross-entropy takes rows of at most 2^30 columns on a GPU.";
    if (shape.rows == 0) return nullptr;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        constexpr int width = 16 / sizeof(T);
        const auto launchWith = [&](auto columnsEach) {
            const std::int64_t packs = shape.columns / columnsEach.value;
            const int threads = launch::threadsFor(packs, kHeldPacks);
            const bool fits = packs <= kHeldPacks * threads;
            const auto kernel = fits ? crossEntropyKernel<T, columnsEach.value, kHeldPacks> : crossEntropyKernel<T, columnsEach.value, 0>;
            launchKernel(kernel, static_cast<unsigned>(shape.rows), threads, shape.stream, static_cast<int>(shape.columns), loss);
        };
        if (launch::packs(shape.columns, width) && aligned(loss.logits))
            launchWith(std::integral_constant<int, width>{});
        else
            launchWith(std::integral_constant<int, 1>{});
    });
    return launchError();
}

}  // namespace stepscope
