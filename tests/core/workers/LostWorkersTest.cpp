// Which worker a run was lost by, from what each of them said or did not say. CTest.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "core/workers/LostWorkers.h"

namespace stepscope {
namespace {

const Broken kBroken{.rank = 0, .aim = "add up gradients", .seconds = 60};

std::string sentence(const std::vector<WorkerFate>& fates) {
    return lostSentence(kBroken, std::vector<WorkerIdentity>(fates.size(), ownIdentity()), fates);
}

TEST(LostWorkers, OneThatGaveUpIsToldWithItsReason) {
    EXPECT_EQ(sentence({{.answered = true}, {.answered = true, .reason = "There is not enough memory."}, {.ended = true}}),
              "Worker 1 of 3 has given up: There is not enough memory.");
}

TEST(LostWorkers, ThoseThatEndedAreNamed) {
    EXPECT_EQ(sentence({{.answered = true}, {.ended = true}}),
              "Worker 1 of 2 has ended while worker 0 waited to add up gradients with it; what it said last tells why.");
    EXPECT_THAT(sentence({{.answered = true}, {.ended = true}, {}, {.ended = true}}), testing::StartsWith("Workers 1 and 3 of 4 have ended while"));
}

TEST(LostWorkers, ThoseThatDoNotAnswerAreNamedAfterThePatience) {
    EXPECT_THAT(sentence({{.answered = true}, {}}),
                testing::AllOf(testing::HasSubstr("Worker 1 of 2 does not answer"), testing::HasSubstr("up to 60 s"),
                               testing::HasSubstr("process " + std::to_string(::getpid()))));
    EXPECT_THAT(sentence({{.answered = true}, {}, {}, {}}), testing::StartsWith("Workers 1, 2 and 3 of 4 do not answer"));
}

TEST(LostWorkers, WhereAllStillRunNobodyIsAccused) {
    EXPECT_THAT(sentence({{.answered = true}, {.answered = true}}), testing::HasSubstr("all of them still run"));
}

TEST(LostWorkers, ProcessorsAreSharedByThoseThatMayUseTheSameOnes) {
    const WorkerIdentity own = ownIdentity();
    EXPECT_NE(own.processors, WorkerIdentity{}.processors) << "this process may use one";
    EXPECT_TRUE(shareProcessors(own, own));
    WorkerIdentity first = own, second = own, both = own, unknown = own, elsewhere = own;
    first.processors = {0b0011};
    second.processors = {0b1100, 1};
    both.processors = {0b0110};
    unknown.processors = {};
    std::strcpy(elsewhere.machine.data(), "another");
    EXPECT_FALSE(shareProcessors(first, second)) << "each is bound to its own";
    EXPECT_TRUE(shareProcessors(first, both));
    EXPECT_TRUE(shareProcessors(both, second));
    EXPECT_TRUE(shareProcessors(unknown, first)) << "so that nobody takes what another has";
    EXPECT_FALSE(shareProcessors(elsewhere, own)) << "its processors are others";
}

TEST(LostWorkers, AProcessThatRunsIsThereAndOneThatWasKilledIsNot) {
    const WorkerIdentity own = ownIdentity();
    EXPECT_FALSE(hasEnded(own, own));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    WorkerIdentity other = own;
    other.process = child;
    EXPECT_FALSE(hasEnded(other, own));
    ::kill(child, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    EXPECT_TRUE(hasEnded(other, own)) << "before anybody waited for it";
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(hasEnded(other, own));
    // The numbers of another machine's processes mean nothing here.
    other.machine[0] = 'x';
    EXPECT_FALSE(hasEnded(other, own));
}

TEST(LostWorkers, WhatAStrangerSaysOfItselfNeedNotEnd) {
    std::vector<WorkerIdentity> workers(2, ownIdentity());
    workers[1].host.fill('h');
    EXPECT_THAT(lostSentence(kBroken, workers, {{.answered = true}, {}}),
                testing::HasSubstr(" on " + std::string(workers[1].host.size(), 'h') + " hangs"));
}

}  // namespace
}  // namespace stepscope
