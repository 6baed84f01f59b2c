// What workers prepare before the first step: in turn, with all of them heard of however long it takes, and none left to wait for one that failed.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/workers/PrepareInTurn.h"
#include "tests/support/ThreadWorkers.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;

bool neverCancelled() {
    return false;
}

TEST(PrepareInTurn, LaterTurnsBeginWhenAllEarlierOnesAreDoneAndThoseAlikeWorkSideBySide) {
    testing::ThreadWorkers group{4};
    const std::array<int, 4> turns{0, 1, 1, 2};
    std::atomic<int> done{0}, together{0};
    std::array<int, 4> doneBefore{-1, -1, -1, -1};
    group.run([&](int rank) {
        const auto own = static_cast<std::size_t>(rank);
        const Status prepared = prepareInTurn(
            group.of(rank), turns[own], neverCancelled,
            [&](const std::atomic<bool>& stop) -> Status {
                doneBefore[own] = done;
                if (rank == 0) std::this_thread::sleep_for(milliseconds(100));
                // Each waits until the other is at it.
                if (turns[own] == 1) ++together;
                while (turns[own] == 1 && together < 2 && !stop) std::this_thread::sleep_for(milliseconds(1));
                ++done;
                return {};
            },
            milliseconds(10));
        EXPECT_TRUE(prepared.ok());
    });
    EXPECT_EQ(doneBefore[0], 0);
    EXPECT_EQ(doneBefore[1], 1) << "or 2, had it not waited for the other of its turn";
    EXPECT_EQ(doneBefore[2], 1);
    EXPECT_EQ(doneBefore[3], 3);
}

TEST(PrepareInTurn, TheOthersAreHeardOfForAsLongAsItTakes) {
    testing::ThreadWorkers group{2};
    std::atomic<int> heard{0};
    group.run([&](int rank) {
        const Status prepared = prepareInTurn(
            group.of(rank), rank, neverCancelled,
            [&](const std::atomic<bool>&) -> Status {
                const int before = group.gathers();
                std::this_thread::sleep_for(milliseconds(300));
                heard += group.gathers() - before > 4 ? 1 : 0;
                return {};
            },
            milliseconds(10));
        EXPECT_TRUE(prepared.ok());
        int ranks[2] = {};
        EXPECT_TRUE(group.of(rank).gather(&rank, sizeof rank, ranks).ok()) << "they go on in step";
        EXPECT_EQ(ranks[1], 1);
    });
    EXPECT_EQ(heard, 2) << "while the first one works, and while the other does";
}

TEST(PrepareInTurn, OneThatFailsStopsTheWorkOfTheOthersWhichHearThatItIsGone) {
    testing::ThreadWorkers group{3};
    std::array<std::string, 3> said;
    std::atomic<bool> lastBegan{false};
    group.run([&](int rank) {
        const auto own = static_cast<std::size_t>(rank);
        const Status prepared = prepareInTurn(
            group.of(rank), rank == 2 ? 1 : 0, neverCancelled,
            [&](const std::atomic<bool>& stop) -> Status {
                if (rank == 1) return makeError(ErrorCode::NotFound, "There is no such file.");
                if (rank == 2) lastBegan = true;
                while (!stop) std::this_thread::sleep_for(milliseconds(1));
                return makeError(ErrorCode::Cancelled, "It was cancelled.");
            },
            milliseconds(10));
        if (rank == 1) group.leave();
        said[own] = prepared ? "" : prepared.error().sentence;
    });
    EXPECT_EQ(said[1], "There is no such file.");
    EXPECT_EQ(said[0], "Another worker has left.");
    EXPECT_EQ(said[2], "Another worker has left.");
    EXPECT_FALSE(lastBegan);
}

TEST(PrepareInTurn, AStopIsHeardWhileItWorksAndWhileItWaitsForItsTurn) {
    for (const int stopped : {0, 1}) {
        testing::ThreadWorkers group{2};
        std::array<std::optional<ErrorCode>, 2> codes;
        group.run([&](int rank) {
            const auto until = std::chrono::steady_clock::now() + milliseconds(50);
            const Status prepared = prepareInTurn(
                group.of(rank), rank, [&] { return rank == stopped && std::chrono::steady_clock::now() > until; },
                [&](const std::atomic<bool>& stop) -> Status {
                    while (!stop) std::this_thread::sleep_for(milliseconds(1));
                    return makeError(ErrorCode::Cancelled, "It was cancelled.");
                },
                milliseconds(10));
            if (rank == stopped) group.leave();
            if (!prepared) codes[static_cast<std::size_t>(rank)] = prepared.error().code;
        });
        EXPECT_EQ(codes[static_cast<std::size_t>(stopped)], ErrorCode::Cancelled);
        EXPECT_EQ(codes[static_cast<std::size_t>(1 - stopped)], ErrorCode::Training);
    }
}

// As a thrown exception leaves it: nobody waits for ever.
TEST(PrepareInTurn, OneWhoseWorkThrowsIsAFailureToTheOthers) {
    testing::ThreadWorkers group{2};
    std::string said;
    group.run([&](int rank) {
        try {
            const Status prepared = prepareInTurn(
                group.of(rank), rank, neverCancelled, [&](const std::atomic<bool>&) -> Status { throw std::runtime_error("a mistake"); },
                milliseconds(10));
            said = prepared ? "" : prepared.error().sentence;
        } catch (const std::runtime_error&) {
            group.leave();
        }
    });
    EXPECT_EQ(said, "Another worker has left.");
}

}  // namespace
}  // namespace stepscope
