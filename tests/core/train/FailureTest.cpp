// What an exception means for a person: of training, and of what only reads weights. Threads of a step or of a Decoder that the system does not
// start are one, and not the end of the program: the limit is the system's own, in a process apart. CTest.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <stdexcept>

#include "core/step/Team.h"
#include "core/train/Failure.h"
#include "tests/support/Sanitized.h"

namespace stepscope {
namespace {

// Ends this process: with 0 where it is told that there is no room for so many threads, with 1 where there is, with 2 for other words, with 3 where
// nothing could be limited.
void endWithTeamOf(int workers) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
    const rlimit limit{most, most};
    if (pages == 0 || ::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(3);
    try {
        const Team team(workers);
        std::_Exit(1);
    } catch (const std::exception& thrown) {
        const Error told = describeException(thrown);
        std::_Exit(told.code == ErrorCode::Unsupported && told.sentence.starts_with("The system starts no more threads for this; set threads") ? 0
                                                                                                                                               : 2);
    }
}

TEST(Team, ThreadsThatCannotBeStartedAreASentenceAndNotTheEndOfTheProgram) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers take terabytes of address space themselves";
    EXPECT_EXIT(endWithTeamOf(500), ::testing::ExitedWithCode(0), "");
    EXPECT_EXIT(endWithTeamOf(1), ::testing::ExitedWithCode(1), "") << "the limit is one of threads alone";
}

TEST(Failure, OfWhatReadsWeightsNamesNoRun) {
    EXPECT_EQ(describeException(std::bad_alloc()).code, ErrorCode::OutOfMemory);
    EXPECT_THAT(describeException(std::bad_alloc()).sentence, ::testing::HasSubstr("lower batch-size"));
    EXPECT_THAT(describeException(std::runtime_error("x\ny")).sentence, ::testing::StartsWith("Training failed: x."));
    const Error memory = describeException(std::bad_alloc(), Doing::Reading);
    EXPECT_EQ(memory.code, ErrorCode::OutOfMemory);
    EXPECT_THAT(memory.sentence, ::testing::Not(::testing::ContainsRegex("The run|batch-size")));
    EXPECT_EQ(describeException(std::runtime_error("x\ny"), Doing::Reading).sentence, "LibTorch could not do this: x.");
}

}  // namespace
}  // namespace stepscope
