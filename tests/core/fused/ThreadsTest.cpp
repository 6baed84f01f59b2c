// That our parallel loops are parallel: at::parallel_for in code of ours compiled without OpenMP would run on the calling thread. CTest.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace stepscope {
namespace {

TEST(Threads, TwoPartsOfAParallelLoopRunOnTwoThreads) {
    const int before = at::get_num_threads();
    at::set_num_threads(2);
    std::array<std::thread::id, 2> ran;
    at::parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) ran[static_cast<std::size_t>(part)] = std::this_thread::get_id();
    });
    at::set_num_threads(before);
    EXPECT_NE(ran[0], ran[1]);
}

}  // namespace
}  // namespace stepscope
