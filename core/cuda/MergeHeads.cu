// The way back of the QKV projection on the GPU: three gradients of attention's heads, however they lie, into the rows (B*T, 3C) that the
// projection's products take. See core/kernels/qkv_layout/QkvLayoutCpu.h.
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"

namespace stepscope {
namespace {

constexpr int kThreads = 128;

struct Parts {
    CudaHeadPart of[3];
};

// gridDim = (packs of a row / kThreads, rows): a thread copies one pack of one row, then strides over rows.
template <class T, int Width>
__global__ void __launch_bounds__(kThreads) mergeHeadsKernel(std::int64_t rows, std::int64_t context, std::int64_t heads, std::int64_t width, Parts parts,
                                                             T* __restrict__ out) {
    const std::int64_t packsPerHead = width / Width, pack = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (pack >= 3 * heads * packsPerHead) return;
    const std::int64_t head = pack / packsPerHead % heads;
    const CudaHeadPart part = parts.of[pack / packsPerHead / heads];
    const T* const from = static_cast<const T*>(part.data) + head * part.headStride + pack % packsPerHead * Width;
    for (std::int64_t r = blockIdx.y; r < rows; r += gridDim.y) {
        float x[Width] = {};
        if (part.data) get(from + r / context * part.batchStride + r % context * part.tokenStride, x);
        put(out + (r * 3 * heads * packsPerHead + pack) * Width, x);
    }
}

bool wideEnough(const CudaHeadPart& part, int width) {
    return aligned(part.data) && part.batchStride % width == 0 && part.headStride % width == 0 && part.tokenStride % width == 0;
}

}  // namespace

const char* mergeHeads(const CudaRows& shape, std::int64_t context, std::int64_t heads, const CudaHeadPart (&parts)[3], void* rows) {
    if (const char* why = refuse(shape)) return why;
    if (heads < 1 || context < 1 || shape.columns % (3 * heads) != 0) return "merging heads was called with columns that are not three times the heads' width.";
    if (shape.rows == 0) return nullptr;
    const std::int64_t headWidth = shape.columns / 3 / heads;
    withElement(shape.scalar, [&](auto element) {
        using T = decltype(element);
        constexpr int width = 16 / sizeof(T);
        const auto launchWith = [&](auto kernel, int columnsEach) {
            const dim3 grid(static_cast<unsigned>(launch::ceilDivide(shape.columns / columnsEach, kThreads)),
                            static_cast<unsigned>(launch::clamp(shape.rows, 1, launch::kMostGridY)));
            launchKernel(kernel, grid, kThreads, shape.stream, shape.rows, context, heads, headWidth, Parts{{parts[0], parts[1], parts[2]}}, static_cast<T*>(rows));
        };
        const bool wide = launch::packs(headWidth, width) && aligned(rows) && wideEnough(parts[0], width) && wideEnough(parts[1], width) && wideEnough(parts[2], width);
        if (wide) launchWith(mergeHeadsKernel<T, width>, width);
        else launchWith(mergeHeadsKernel<T, 1>, 1);
    });
    return launchError();
}

}  // namespace stepscope
