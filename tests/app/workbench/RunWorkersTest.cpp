// What workers read before their first step, each as long as it takes: nobody is taken for lost meanwhile, and what one cannot read all hear. They
// meet as those of a run do, by c10d at a file; each is a thread of this test. CTest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "TinyTraining.h"
#include "app/workbench/workers/RunWorkers.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kMeetingPatience{3000};

// work(rank, workers): what each does once they have met.
void joinAndDo(int size, const std::function<void(int rank, RunWorkers& workers)>& work) {
    const auto file = std::filesystem::temp_directory_path() / fmt::format("stepscope-run-workers-{}", ::getpid());
    std::filesystem::remove(file);
    const std::atomic<bool> cancelled{false};
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < size; ++rank)
            threads.emplace_back([&, rank] {
                RunRequest request;
                request.config = testing::tinyConfig(testing::registry());
                request.workers.rank = request.workers.localRank = rank;
                request.workers.size = request.workers.localSize = size;
                request.workers.file = file.string();
                request.workerPatience = kMeetingPatience;
                const auto plan = testing::registry().plan(request.config, 61);
                ASSERT_TRUE(plan.ok());
                auto joined = RunWorkers::join(request, *plan, cancelled);
                ASSERT_TRUE(joined.ok()) << joined.error().sentence;
                work(rank, **joined);
            });
    }
    std::filesystem::remove(file);
}

TEST(RunWorkers, OneThatReadsForLongerThanThePatienceIsNotTakenForLost) {
    const std::atomic<bool> cancelled{false};
    joinAndDo(2, [&](int rank, RunWorkers& workers) {
        EXPECT_EQ(workers.beat(), kMeetingPatience / 4);
        const Status begun = workers.beginSideBySide(cancelled, [&]() -> Status {
            if (rank == 1) std::this_thread::sleep_for(2 * kMeetingPatience);
            return {};
        });
        EXPECT_TRUE(begun.ok()) << begun.error().sentence;
        EXPECT_EQ(workers.parallel().gather({static_cast<double>(rank)}), (std::vector<double>{0, 1})) << "they go on in step";
    });
}

TEST(RunWorkers, WhatOneCannotReadAllHearInItsWords) {
    const std::atomic<bool> cancelled{false};
    std::array<std::string, 3> said;
    joinAndDo(3, [&](int rank, RunWorkers& workers) {
        const Status begun = workers.beginSideBySide(cancelled, [&]() -> Status {
            if (rank == 1) return makeError(ErrorCode::NotFound, "There is no checkpoint at /nowhere.");
            return {};
        });
        ASSERT_FALSE(begun.ok());
        said[static_cast<std::size_t>(rank)] = begun.error().sentence;
        workers.giveUp(begun.error());
    });
    EXPECT_EQ(said[1], "There is no checkpoint at /nowhere.");
    for (const std::size_t other : {std::size_t{0}, std::size_t{2}})
        EXPECT_THAT(said[other], HasSubstr("Worker 1 of 3 has given up: There is no checkpoint at /nowhere."));
}

}  // namespace
}  // namespace stepscope
