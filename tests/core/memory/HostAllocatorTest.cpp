// The CPU allocator in front of LibTorch: both modes, the budget, other people's entry points, threads.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "core/memory/DeviceMemory.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/SystemMemory.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

class HostAllocator : public ::testing::Test {
protected:
    HostAllocator() {
        host_memory::install();
        host_memory::refreshBudget();
        host_memory::setMode(host_memory::Mode::System);
        host_memory::trim();
    }
    ~HostAllocator() override {
        host_memory::refreshBudget();
        host_memory::setMode(host_memory::Mode::System);
        host_memory::trim();
    }
};

at::Tensor bytesTensor(std::int64_t count) {
    return at::empty({count}, at::TensorOptions().dtype(at::kByte));
}

std::int64_t faults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

TEST_F(HostAllocator, CountsLiveBytesOfTensors) {
    const auto before = host_memory::usage().live.count;
    {
        const auto tensor = bytesTensor(5 * kMegabyte);
        EXPECT_EQ(host_memory::usage().live.count - before, 5 * kMegabyte);
    }
    EXPECT_EQ(host_memory::usage().live.count, before);
}

TEST_F(HostAllocator, RefusesWhatIsOverTheBudgetWithAnExceptionAndGoesOn) {
    host_memory::setBudget({host_memory::usage().live.count + 50 * kMegabyte});
    EXPECT_THROW(bytesTensor(60 * kMegabyte), c10::OutOfMemoryError);
    EXPECT_NO_THROW(bytesTensor(40 * kMegabyte));
}

TEST_F(HostAllocator, SaysWhatIsAffordableWithoutTouchingTheBudget) {
    const Bytes low{host_memory::usage().live.count + 50 * kMegabyte};
    host_memory::setBudget(low);
    EXPECT_GT(host_memory::affordable(), low);
    EXPECT_EQ(host_memory::budget(), low);
}

// What is available moves while it is read, but not by a half.
TEST_F(HostAllocator, WhatSeveralProcessesShareIsNotEachOnesOwn) {
    const std::int64_t held = host_memory::usage().live.count, alone = host_memory::affordable().count - held;
    host_memory::shareAmong(4);
    const std::int64_t shared = host_memory::affordable().count - held;
    host_memory::shareAmong(1);
    EXPECT_LT(shared, alone / 2);
    EXPECT_GT(shared, alone / 8);
    EXPECT_GT(host_memory::affordable().count - held, alone / 2) << "alone again";
}

TEST_F(HostAllocator, RefusesAbsurdSizesWithoutOverflow) {
    EXPECT_THROW(bytesTensor(std::int64_t{1} << 60), c10::OutOfMemoryError);
    EXPECT_GE(host_memory::usage().live.count, 0);
}

TEST_F(HostAllocator, AlignsEveryBlockFor512BitVectorsInBothModes) {
    for (const auto mode : {host_memory::Mode::System, host_memory::Mode::Caching}) {
        host_memory::setMode(mode);
        for (const std::int64_t size : {1L, 63L, 4097L, 65536L, 3'000'000L, 70'000'001L})
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytesTensor(size).data_ptr()) % 64, 0u) << size;
    }
}

TEST_F(HostAllocator, CachingHandsAFreedBlockOutAgainWithoutPageFaults) {
    host_memory::setMode(host_memory::Mode::Caching);
    bytesTensor(64 * kMegabyte).fill_(1);
    EXPECT_GE(host_memory::usage().cached.count, 64 * kMegabyte);
    const auto before = faults();
    bytesTensor(64 * kMegabyte).fill_(2);
    EXPECT_LT(faults() - before, 64) << "64 MB are some 16 000 small or 31 huge pages";
}

TEST_F(HostAllocator, SystemGivesALargeBlockBackSoThatItFaultsAnew) {
    bytesTensor(64 * kMegabyte).fill_(1);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
    const auto before = faults();
    bytesTensor(64 * kMegabyte).fill_(2);
    EXPECT_GT(faults() - before, 30);
}

TEST_F(HostAllocator, TrimGivesEverythingBack) {
    host_memory::setMode(host_memory::Mode::Caching);
    bytesTensor(200 * kMegabyte).fill_(1);
    const auto before = residentMemory().count;
    host_memory::trim();
    EXPECT_EQ(host_memory::usage().cached.count, 0);
    EXPECT_LT(residentMemory().count, before - 150 * kMegabyte);
}

TEST_F(HostAllocator, TrimOfTheCpuDeviceGivesEverythingBackToo) {
    host_memory::setMode(host_memory::Mode::Caching);
    bytesTensor(20 * kMegabyte);
    EXPECT_GT(host_memory::usage().cached.count, 0);
    device_memory::trim(at::kCPU);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
}

TEST_F(HostAllocator, CachingOverItsBudgetGivesFreedBlocksBackAndGoesOn) {
    host_memory::setMode(host_memory::Mode::Caching);
    host_memory::setBudget({host_memory::usage().live.count + 100 * kMegabyte});
    bytesTensor(60 * kMegabyte).fill_(1);
    const auto kept = host_memory::usage().cached.count, resident = residentMemory().count;
    EXPECT_GE(kept, 60 * kMegabyte);
    // No freed block is large enough, and what is kept and what is asked for are more than the budget.
    const auto larger = bytesTensor(80 * kMegabyte);
    EXPECT_EQ(host_memory::usage().cached.count, 0);
    EXPECT_LT(residentMemory().count, resident - 40 * kMegabyte);
}

TEST_F(HostAllocator, CachingUnderItsBudgetKeepsFreedBlocks) {
    host_memory::setMode(host_memory::Mode::Caching);
    host_memory::setBudget({host_memory::usage().live.count + 200 * kMegabyte});
    bytesTensor(60 * kMegabyte);
    const auto kept = host_memory::usage().cached.count;
    const auto larger = bytesTensor(80 * kMegabyte);
    EXPECT_EQ(host_memory::usage().cached.count, kept);
}

// The line "VmFlags:" of the mapping that holds the address; empty where the kernel does not tell.
std::string flagsOfMapping(const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) here = begin <= wanted && wanted < end;
        if (here && line.starts_with("VmFlags:")) return line + " ";
    }
    return {};
}

TEST_F(HostAllocator, CachingAsksForHugePages) {
    if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "This kernel has no transparent huge pages.";
    host_memory::setMode(host_memory::Mode::Caching);
    const auto block = bytesTensor(10 * kMegabyte), small = bytesTensor(kMegabyte);
    const std::string flags = flagsOfMapping(block.data_ptr());
    if (flags.empty()) GTEST_SKIP() << "This kernel does not say how a mapping was advised.";
    EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
    EXPECT_EQ(flagsOfMapping(small.data_ptr()).find(" hg "), std::string::npos) << "less than a huge page";
}

TEST_F(HostAllocator, FreesBlocksOfEitherModeWhateverTheModeIsNow) {
    auto plain = bytesTensor(10 * kMegabyte);
    host_memory::setMode(host_memory::Mode::Caching);
    auto cached = bytesTensor(10 * kMegabyte);
    plain.reset();
    host_memory::setMode(host_memory::Mode::System);
    cached.reset();
    host_memory::trim();
    EXPECT_EQ(host_memory::usage().cached.count, 0);
}

TEST_F(HostAllocator, DoesNotGrowWhenTheSameSizesComeAndGo) {
    host_memory::setMode(host_memory::Mode::Caching);
    const auto round = [] {
        for (std::int64_t size = 100'000; size < 20 * kMegabyte; size = size * 3 / 2) bytesTensor(size);
    };
    round();
    const auto after = host_memory::usage().cached.count;
    for (int i = 0; i < 50; ++i) round();
    EXPECT_EQ(host_memory::usage().cached.count, after);
}

TEST_F(HostAllocator, ServesRawAllocationAsOneDnnUsesItForBf16Products) {
    void* raw = c10::GetCPUAllocator()->raw_allocate(1'000'000);
    ASSERT_NE(raw, nullptr);
    c10::GetCPUAllocator()->raw_deallocate(raw);
    const auto left = at::ones({300, 200}, at::TensorOptions().dtype(at::kBFloat16));
    const auto right = at::ones({200, 100}, at::TensorOptions().dtype(at::kBFloat16));
    EXPECT_EQ(at::matmul(left, right)[0][0].item<float>(), 200.0f);
}

TEST_F(HostAllocator, IsSafeAcrossThreads) {
    host_memory::setMode(host_memory::Mode::Caching);
    const auto live = host_memory::usage().live.count;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; ++i) bytesTensor(1000 + (i * 7919 + t * 104729) % 400'000).fill_(t);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(host_memory::usage().live.count, live);
}

TEST(SystemMemory, KnowsMoreInAllThanIsAvailableAndSomethingResident) {
    EXPECT_GT(totalMemory().count, 100 * kMegabyte);
    EXPECT_LE(availableMemory().count, totalMemory().count);
    EXPECT_GT(residentMemory().count, kMegabyte);
    EXPECT_GE(peakResidentMemory().count, residentMemory().count / 2);
}

}  // namespace
}  // namespace stepscope
