// GPUs joined by NCCL, which is a fake here, over memory of this process, whose threads are the workers: what each gets, and the sentence where the
// library is missing or unfit, a worker does not come, or NCCL meets an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "core/workers/nccl/NcclGroup.h"
#include "tests/core/workers/nccl/FakeNccl.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;
using ::testing::StartsWith;

constexpr milliseconds kLong{30'000};

const NcclLibrary& fakeLibrary() {
    return ncclLibrary(FAKE_NCCL);
}

NcclKey newKey() {
    NcclKey key;
    EXPECT_EQ(fakeLibrary().getUniqueId(&key), NcclResult::Success);
    return key;
}

// Each worker on a thread, joined to the others.
void withGroups(int size, milliseconds patience, const std::function<void(int rank, NcclGroup& group)>& work) {
    const NcclKey key = newKey();
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            const auto group = NcclGroup::join(fakeLibrary(), key, rank, size, patience, kLong);
            ASSERT_TRUE(group) << group.error().sentence;
            work(rank, **group);
        });
}

TEST(NcclGroup, WhatAllWorkersHaveIsAddedUpInTheMemoryOfEach) {
    const FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    withGroups(3, kLong, [](int rank, NcclGroup& group) {
        const float own = static_cast<float>(rank + 1);
        std::vector<float> a{own, 10 * own}, b{100 * own};
        const Status added = group.sum({{a.data(), 2}, {b.data(), 1}, {nullptr, 0}}, NcclType::Float32, nullptr);
        EXPECT_TRUE(added) << added.error().sentence;
        EXPECT_EQ(a, (std::vector<float>{6, 60}));
        EXPECT_EQ(b, std::vector<float>{600});
        Bf16 half = toBf16(own);
        EXPECT_TRUE(group.sum({{&half, 1}}, NcclType::BFloat16, nullptr));
        EXPECT_EQ(toFloat(half), 6);
        EXPECT_TRUE(group.state());
    });
    EXPECT_EQ(fake.sums.load(), 3) << "nothing is asked for an empty slice";
    EXPECT_EQ(fake.alive.load(), 0) << "a group that goes leaves nothing";
}

TEST(NcclGroup, EachWorkersPartIsHandedToAllOthers) {
    const FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    withGroups(3, kLong, [](int rank, NcclGroup& group) {
        // Parts of 2, 0 and 3 elements.
        std::vector<float> whole(5, -1);
        const std::vector<NcclSlice> parts{{whole.data(), 2}, {whole.data() + 2, 0}, {whole.data() + 2, 3}};
        const NcclSlice& own = parts[static_cast<std::size_t>(rank)];
        for (std::int64_t i = 0; i < own.count; ++i) static_cast<float*>(own.values)[i] = static_cast<float>(10 * rank + i);
        EXPECT_TRUE(group.handRound(parts, nullptr));
        EXPECT_EQ(whole, (std::vector<float>{0, 1, 20, 21, 22}));
    });
    EXPECT_EQ(fake.handedRound.load(), 2);
}

TEST(NcclGroup, WhoWaitsForAWorkerThatDoesNotComeIsToldSoWhenItsPatienceIsOver) {
    fakeAsNew(FAKE_NCCL);
    const auto group = NcclGroup::join(fakeLibrary(), newKey(), 0, 2, kLong, milliseconds(1000));
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().sentence, "The workers' GPUs did not find each other within 1 s: one of them hangs, or its worker does.");
    std::atomic<bool> ended{false};
    withGroups(2, milliseconds(200), [&](int rank, NcclGroup& joined) {
        float value = 1;
        if (rank == 0) {
            const Status added = joined.sum({{&value, 1}}, NcclType::Float32, nullptr);
            ended = true;
            ASSERT_FALSE(added);
            EXPECT_THAT(added.error().sentence, StartsWith("The workers' GPUs did not add up gradients within "));
        }
        while (!ended) std::this_thread::sleep_for(milliseconds(1));
    });
}

TEST(NcclGroup, AnErrorIsToldInNcclsOwnWords) {
    FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    fake.failsOf = 1;
    fake.failsAt = 1;
    fake.lastError = "socketProgress: Connection closed by remote peer node1<40000>.\nand much more";
    withGroups(2, milliseconds(200), [](int rank, NcclGroup& group) {
        if (rank == 0) return;
        float value = 1;
        const Status added = group.sum({{&value, 1}}, NcclType::Float32, nullptr);
        ASSERT_FALSE(added);
        EXPECT_EQ(added.error().sentence,
                  "The workers' GPUs could not add up gradients: NCCL says \"remote process exited or there was a network error\" (socketProgress: "
                  "Connection closed by remote peer node1<40000>); NCCL_DEBUG=INFO makes it say more.");
        const Status now = group.state();
        ASSERT_FALSE(now) << "of what is under way on the GPU, too";
        EXPECT_EQ(now.error().sentence, added.error().sentence) << "whoever looks first";
    });
}

TEST(NcclGroup, WhoWaitsInAGroupThatIsAbandonedIsLetGo) {
    fakeAsNew(FAKE_NCCL);
    withGroups(2, kLong, [](int rank, NcclGroup& group) {
        if (rank == 1) return;
        std::jthread other([&] {
            std::this_thread::sleep_for(milliseconds(50));
            group.abandon();
        });
        float value = 1;
        const auto begin = std::chrono::steady_clock::now();
        const Status added = group.sum({{&value, 1}}, NcclType::Float32, nullptr);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
        ASSERT_FALSE(added);
        EXPECT_EQ(added.error().sentence, "The workers' GPUs do nothing together any more.");
        EXPECT_FALSE(group.state());
        EXPECT_FALSE(group.sum({{&value, 1}}, NcclType::Float32, nullptr));
    });
}

TEST(NcclLibrary, ThatIsMissingOldOrIncompleteIsNamed) {
    EXPECT_EQ(fakeLibrary().whyNot, "");
    EXPECT_EQ(fakeLibrary().version, 22809);
    EXPECT_EQ(ncclLibrary("/nowhere/libnccl.so.2").whyNot,
              "NVIDIA's NCCL, by which several GPUs add up gradients, is not installed; packaging/run installs it beside LibTorch.");
    EXPECT_EQ(ncclLibrary(FAKE_NCCL_OLD).whyNot,
              "The NCCL that was found is of version 2.8.4, and several GPUs need 2.14.0 or newer; packaging/run installs that of LibTorch.");
    EXPECT_EQ(ncclLibrary(FAKE_NCCL_INCOMPLETE).whyNot,
              "The NCCL that was found lacks ncclBroadcast; packaging/run installs the one that belongs to LibTorch.");
    EXPECT_EQ(&ncclLibrary(FAKE_NCCL), &fakeLibrary()) << "opened once";
    EXPECT_EQ(ncclVersionWords(22809), "2.28.9");
}

}  // namespace
}  // namespace stepscope
