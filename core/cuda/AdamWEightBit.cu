// AdamW over moments in 8 bits on the GPU, in one pass: a block of threads decodes 256 values, one a thread, updates them, finds the new scale and
// encodes them again. Both codes and the list travel in the kernel's arguments, so that nothing has to be copied to the device before. The code of a
// number: EightBitCode.h; arithmetic of an element: core/kernels/adamw/AdamWStep.h.
#include "core/cuda/EightBitCode.h"
#include "core/cuda/Elements.cuh"
#include "core/cuda/Forms.h"
#include "core/cuda/ParameterList.cuh"

namespace stepscope {
namespace {

constexpr int kThreads = eight_bit::kBlock;
constexpr std::int64_t kChunk = 16 * kThreads;  // elements a block takes, so that its copy of the codes is worth its while

using List = ParameterList<CudaEightBitParameter, 256, kChunk>;

struct Code {
    float values[eight_bit::kCodes];
    std::int32_t zero;
};

struct Work {
    Code first, second;
    AdamWStep step;
    List list;
};
static_assert(sizeof(Work) <= 32764);  // see AdamW.cu

Code codeOf(const float* values) {
    Code code{};
    for (int i = 0; i < eight_bit::kCodes; ++i) {
        code.values[i] = values[i];
        if (values[i] == 0.0f) code.zero = i;
    }
    return code;
}

// values[n] = their greatest over the block, in every thread; none is negative.
template <int Count>
__device__ __forceinline__ void maxOverBlock(float (&values)[Count]) {
    __shared__ float parts[kThreads / launch::kWarp][Count];
#pragma unroll
    for (int n = 0; n < Count; ++n) {
        for (int distance = launch::kWarp / 2; distance > 0; distance /= 2)
            values[n] = fmaxf(values[n], __shfl_xor_sync(0xffffffffu, values[n], distance));
        if (threadIdx.x % launch::kWarp == 0) parts[threadIdx.x / launch::kWarp][n] = values[n];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < Count; ++n)
        for (int w = 0; w < kThreads / launch::kWarp; ++w) values[n] = fmaxf(values[n], parts[w][n]);
    __syncthreads();  // before the next call writes
}

__device__ __forceinline__ std::uint8_t encode(const float* values, int zero, float x, float scale) {
    return static_cast<std::uint8_t>(scale > 0.0f ? eight_bit::nearest(values, zero, x / scale) : zero);
}

__global__ void __launch_bounds__(kThreads) adamWEightBitKernel(const __grid_constant__ Work work) {
    __shared__ float firstValues[eight_bit::kCodes], secondValues[eight_bit::kCodes];
    static_assert(kThreads == eight_bit::kCodes);
    firstValues[threadIdx.x] = work.first.values[threadIdx.x];
    secondValues[threadIdx.x] = work.second.values[threadIdx.x];
    __syncthreads();
    const auto chunk = static_cast<std::int32_t>(blockIdx.x);
    const int which = work.list.parameterOf(chunk);
    const CudaEightBitParameter p = work.list.parameters[which];
    const auto [begin, end] = work.list.rangeOf(which, chunk);
    for (std::int64_t at = begin; at < end; at += kThreads) {
        const std::int64_t i = at + threadIdx.x, block = at / kThreads;
        float first = 0.0f, second = 0.0f;
        if (i < end) {
            first = firstValues[p.first[i]] * p.firstScales[block];
            second = secondValues[p.second[i]] * p.secondScales[block];
            adamWElement(work.step, p.gradient[i], p.weight[i], first, second);
        }
        float scales[2] = {fabsf(first), second};
        maxOverBlock(scales);  // every thread has read the former scales by then
        if (i < end) {
            p.first[i] = encode(firstValues, work.first.zero, first, scales[0]);
            p.second[i] = encode(secondValues, work.second.zero, second, scales[1]);
        }
        if (threadIdx.x == 0) {
            p.firstScales[block] = scales[0];
            p.secondScales[block] = scales[1];
        }
    }
}

}  // namespace

const char* adamWEightBit(const CudaEightBitUpdate& update, const AdamWStep& step) {
    Work work;
    work.first = codeOf(update.firstCode);
    work.second = codeOf(update.secondCode);
    work.step = step;
    List::each(update.parameters, update.count, [&](const List& list, std::int64_t) {
        work.list = list;
        launchKernel(adamWEightBitKernel, static_cast<unsigned>(list.chunks), kThreads, update.stream, work);
    });
    return launchError();
}

}  // namespace stepscope
