// The way back of the QKV projection on the GPU: three gradients of attention's heads, however they lie, into the rows (B*T, 3C) that the
// projection's products take, and on the way their column sums, the gradient of its bias. See core/kernels/qkv_layout/QkvLayoutCpu.h.
#include "core/cuda/ColumnSums.h"
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

constexpr int kThreads = 96;  // divides the packs of a row for every C that 256 divides
constexpr int kBlocks = 8;    // of a multiprocessor: as many registers are left as kRowsAtOnce packs take
constexpr int kRowsAtOnce = 4;

struct Parts {
    CudaHeadPart of[3];
};

// A thread copies its pack of every row of one chunk and adds it up. gridDim = (packs of a row / kThreads, chunks).
template <class T, int Width>
__global__ void __launch_bounds__(kThreads, kBlocks)
    mergeHeadsKernel(std::int64_t rows, std::int64_t context, std::int64_t heads, std::int64_t width, const __grid_constant__ Parts parts,
                     T* __restrict__ out, float* __restrict__ partial) {
    const std::int64_t packsPerHead = width / Width, packs = 3 * heads * packsPerHead,
                       pack = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (pack >= packs) return;
    const std::int64_t head = pack / packsPerHead;
    const CudaHeadPart& part = parts.of[head / heads];
    const auto* const in = static_cast<const T*>(part.data);
    const launch::Range mine = launch::part(rows, gridDim.y, blockIdx.y);
    // Batch and token are stepped: a division of 64 bits a row would cost more than the copy.
    const std::int64_t toNextToken = part.tokenStride, toNextBatch = part.batchStride - (context - 1) * toNextToken;
    std::int64_t from = head % heads * part.headStride + pack % packsPerHead * Width;
    from += mine.begin / context * part.batchStride + mine.begin % context * toNextToken;
    std::int64_t to = (mine.begin * packs + pack) * Width;
    int untilNextBatch = static_cast<int>(context - mine.begin % context);
    float sums[Width] = {};
    for (int left = static_cast<int>(mine.end - mine.begin); left > 0; left -= kRowsAtOnce) {
        Pack<T, Width> taken[kRowsAtOnce] = {};  // all are asked for before the first is waited for
#pragma unroll
        for (int k = 0; k < kRowsAtOnce; ++k) {
            if (in && k < left) taken[k] = *reinterpret_cast<const Pack<T, Width>*>(in + from);
            const bool last = --untilNextBatch == 0;
            from += last ? toNextBatch : toNextToken;
            if (last) untilNextBatch = static_cast<int>(context);
        }
#pragma unroll
        for (int k = 0; k < kRowsAtOnce; ++k, to += packs * Width) {
            if (k < left) *reinterpret_cast<Pack<T, Width>*>(out + to) = taken[k];
#pragma unroll
            for (int i = 0; i < Width; ++i) sums[i] += toFloat(taken[k].values[i]);
        }
    }
    if (!partial) return;
#pragma unroll
    for (int k = 0; k < Width; ++k) partial[(blockIdx.y * packs + pack) * Width + k] = sums[k];
}

bool wideEnough(const CudaHeadPart& part, int width) {
    return aligned(part.data) && part.batchStride % width == 0 && part.headStride % width == 0 && part.tokenStride % width == 0;
}

}  // namespace

const char* mergeHeads(const CudaRows& shape, std::int64_t context, std::int64_t heads, const CudaHeadPart (&parts)[3], void* rows, float* gradBias,
                       void* workspace) {
    if (const char* why = refuse(shape)) return why;
    if (heads < 1 || context < 1 || shape.columns % (3 * heads) != 0)
        return "merging heads was called with columns that are not three times the heads' width.";
    const std::int64_t headWidth = shape.columns / 3 / heads, chunks = sumChunkCount(shape.rows);
    float* const partial = gradBias ? static_cast<float*>(workspace) : nullptr;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        constexpr int width = 16 / sizeof(T);
        const auto launchWith = [&](auto kernel, int columnsEach) {
            const dim3 grid(static_cast<unsigned>(launch::ceilDivide(shape.columns / columnsEach, kThreads)), static_cast<unsigned>(chunks));
            launchKernel(kernel, grid, kThreads, shape.stream, shape.rows, context, heads, headWidth, Parts{{parts[0], parts[1], parts[2]}},
                         static_cast<T*>(rows), partial);
        };
        const bool partsWide = wideEnough(parts[0], width) && wideEnough(parts[1], width) && wideEnough(parts[2], width);
        if (partsWide && launch::packs(headWidth, width) && aligned(rows))
            launchWith(mergeHeadsKernel<T, width>, width);
        else
            launchWith(mergeHeadsKernel<T, 1>, 1);
    });
    if (gradBias) sumChunks(chunks, shape.columns, partial, {.first = gradBias, .count = shape.columns}, shape.stream);
    return launchError();
}

}  // namespace stepscope
