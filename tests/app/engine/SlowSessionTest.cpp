// The first of several workers whose session takes long to open: the others, processes of their own, go on waiting for it. CTest.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "app/workbench/engine/SessionKeeper.h"
#include "tests/app/engine/EngineFixture.h"

namespace stepscope {
namespace {

using test::Ear;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kSlowPatience{8000};

class SlowSession : public test::EngineRuns {
protected:
    RunRequest askedOfTwo(SessionKeeper& keeper) const {
        RunRequest request = asked(3, {});
        request.localWorkers = 2;
        request.workerProgram = STEPSCOPE_CLI;
        request.workerPatience = kSlowPatience;
        request.keeper = &keeper;
        return request;
    }
};

TEST_F(SlowSession, OthersWaitForOneThatTakesLongerThanTheirPatience) {
    struct SlowKeeper final : SessionKeeper {
        Result<SessionPlace> open(const SessionInfo&, TimeNs) override {
            std::this_thread::sleep_for(kSlowPatience + kSlowPatience / 2);
            return SessionPlace{1, {}};
        }
        bool blocked() const override { return false; }
        std::int64_t chunkBytes() const override { return 0; }
    } keeper;
    Ear ear;
    const RunSummary summary = start(askedOfTwo(keeper), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Finished) << summary.why;
    EXPECT_EQ(ear.losses().size(), 3u);
}

TEST_F(SlowSession, OneThatCannotBeOpenedIsToldAndNothingIsTrained) {
    struct RefusingKeeper final : SessionKeeper {
        Result<SessionPlace> open(const SessionInfo&, TimeNs) override { return makeError(ErrorCode::Io, "No room for a session here."); }
        bool blocked() const override { return false; }
        std::int64_t chunkBytes() const override { return 0; }
    } keeper;
    Ear ear;
    const RunSummary summary = start(askedOfTwo(keeper), ear)->wait();
    EXPECT_EQ(summary.state, RunState::Failed);
    EXPECT_THAT(summary.why, HasSubstr("No room for a session here."));
    EXPECT_TRUE(ear.losses().empty());
}

// The window's thread and one that is told that its display is lost.
TEST_F(SlowSession, TheEndOfARunOfSeveralMayBeWaitedForBySeveralAndIsToldOnce) {
    RunRequest request = asked(3, {});
    request.localWorkers = 2;
    request.workerProgram = "/bin/false";
    Ear ear;
    const auto run = start(std::move(request), ear);
    ASSERT_NE(run, nullptr);
    std::array<RunSummary, 4> summaries{};
    {
        std::vector<std::jthread> waiting;
        for (RunSummary& summary : summaries) waiting.emplace_back([&] { summary = run->wait(); });
    }
    for (const RunSummary& summary : summaries) {
        EXPECT_EQ(summary.state, RunState::Failed);
        EXPECT_EQ(summary.why, "Worker 1 ended with status 1 and said nothing.");
    }
    const auto changes = ear.all<StateChanged>();
    EXPECT_EQ(std::ranges::count(changes, RunState::Failed, &StateChanged::state), 1);
}

}  // namespace
}  // namespace stepscope
