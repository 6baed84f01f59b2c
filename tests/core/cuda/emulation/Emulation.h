// CUDA's kernels on the host, one thread of a block after the other: what core/cuda/*.cu uses of the language, for a host compiler. Read before
// each of those files (-include). It shows that a kernel's arithmetic, its bounds and its barriers are right: under AddressSanitizer and
// UndefinedBehaviorSanitizer also that no access leaves its buffer or is not aligned, and because every launch takes blocks and threads in
// another order, that no result depends on an order. It shows nothing about speed, registers or the memory model of a GPU.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <functional>

namespace stepscope::emulation {

// Where the running thread stands.
struct Place {
    uint3 thread, block;
    dim3 threads, blocks;
};
const Place& place();

// One launch, finished when it returns. Any thread; launches wait for each other. A barrier or a shuffle that some thread of its block or warp never
// reaches ends the program with a sentence: on a GPU it would hang or be undefined.
void run(dim3 grid, dim3 block, const std::function<void()>& kernel);

// Who is told of each launch, before and behind it; null: nobody. FakeLaunches.cpp makes records of a fake CUPTI of them.
struct Launch {
    const void* kernel = nullptr;  // the function
    void* stream = nullptr;
    dim3 grid, block;
};
class LaunchObserver {
public:
    virtual ~LaunchObserver() = default;
    // Calls run() once.
    virtual void launched(const Launch& launch, const std::function<void()>& run) = 0;
};
void observeLaunches(LaunchObserver* observer);
void launch(const Launch& launch, const std::function<void()>& kernel);

void waitForBlock();
float shuffleXor(unsigned mask, float value, int distance);

}  // namespace stepscope::emulation

using std::isfinite;

#define threadIdx (::stepscope::emulation::place().thread)
#define blockIdx (::stepscope::emulation::place().block)
#define blockDim (::stepscope::emulation::place().threads)
#define gridDim (::stepscope::emulation::place().blocks)
#define __syncthreads() ::stepscope::emulation::waitForBlock()
#define __shfl_xor_sync(mask, value, distance) ::stepscope::emulation::shuffleXor(mask, value, distance)
#undef __shared__
#define __shared__ static  // one block runs at a time
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__
