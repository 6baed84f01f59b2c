// The emulation itself: what it runs, in which order, and that it notices what a GPU would hang on. CTest.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "Emulation.h"

namespace stepscope::emulation {
namespace {

TEST(Emulation, RunsEveryThreadOfEveryBlockOnceInAnotherOrderEachTime) {
    std::set<std::vector<unsigned>> orders;
    for (int launch = 0; launch < 3; ++launch) {
        std::vector<unsigned> seen;
        run(dim3(3, 2), dim3(4, 5),
            [&] { seen.push_back(((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x); });
        EXPECT_EQ(std::set<unsigned>(seen.begin(), seen.end()).size(), 120u);
        EXPECT_EQ(seen.size(), 120u);
        orders.insert(seen);
    }
    EXPECT_EQ(orders.size(), 3u);
}

TEST(Emulation, NobodyPassesABarrierBeforeAllHaveCome) {
    for (int launch = 0; launch < 3; ++launch) {
        unsigned before = 0, tooEarly = 0, after = 0;
        run(dim3(2), dim3(96), [&] {
            ++before;
            __syncthreads();
            if (before % 96 != 0) ++tooEarly;
            ++after;
            __syncthreads();
            if (after % 96 != 0) ++tooEarly;
        });
        EXPECT_EQ(tooEarly, 0u);
        EXPECT_EQ(after, 192u);
    }
}

TEST(Emulation, ShufflesExchangeWithinAWarp) {
    for (int launch = 0; launch < 3; ++launch) {
        std::vector<float> sums(64);
        run(dim3(1), dim3(64), [&] {
            float sum = static_cast<float>(threadIdx.x);
            for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
            sums[threadIdx.x] = sum;
        });
        for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(sums[t], t < 32 ? 496.0f : 1520.0f) << t;
    }
}

TEST(Emulation, SharedMemoryIsOneForTheWholeBlock) {
    float all = 0.0f;
    run(dim3(1), dim3(32), [&] {
        __shared__ float values[32];
        values[threadIdx.x] = static_cast<float>(threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 31)
            for (const float value : values) all += value;
    });
    EXPECT_EQ(all, 496.0f);
}

TEST(EmulationDeathTest, AShuffleThatAThreadDoesNotReachEndsWithASentence) {
    EXPECT_DEATH(run(dim3(1), dim3(32),
                     [] {
                         if (threadIdx.x != 7) __shfl_xor_sync(0xffffffffu, 1.0f, 1);
                     }),
                 "waits in a shuffle that a thread of its warp does not reach");
}

TEST(EmulationDeathTest, ABlockThatNoGpuTakesEndsWithASentence) {
    EXPECT_DEATH(run(dim3(1), dim3(1025), [] {}), "cannot be launched");
}

}  // namespace
}  // namespace stepscope::emulation
