// What a worker says of itself where all meet, and when two cannot be of one run. CTest.
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/workers/RankClaim.h"

namespace stepscope {
namespace {

const RankClaim kFirst{.rank = 0, .size = 2, .host = "alpha", .process = 11, .mark = "a"};

TEST(RankClaim, WhatIsSaidIsReadAgain) {
    const RankClaim own = ownClaim(3, 8);
    EXPECT_EQ(own.process, ::getpid());
    EXPECT_EQ(claimFrom(sayClaim(own)), own);
    EXPECT_NE(ownClaim(3, 8), own) << "two processes of one number, in containers of one name";
}

TEST(RankClaim, WorkersOfOneRunDoNotContradictEachOther) {
    EXPECT_EQ(contradiction(kFirst, kFirst), "") << "its own claim, read again";
    EXPECT_EQ(contradiction(kFirst, {.rank = 1, .size = 2, .host = "alpha", .process = 12, .mark = "b"}), "");
}

TEST(RankClaim, OtherNumbersOfWorkersAreToldAlikeByBoth) {
    const RankClaim other{.rank = 1, .size = 3, .host = "beta", .process = 22, .mark = "b"};
    const std::string said =
        "WORLD_SIZE is 2 with worker 0 (process 11 on alpha) and 3 with worker 1 (process 22 on beta); all workers of a run must have the same.";
    EXPECT_EQ(contradiction(kFirst, other), said);
    EXPECT_EQ(contradiction(other, kFirst), said);
}

TEST(RankClaim, TwoWithOneRankAreBothNamed) {
    const RankClaim other{.rank = 0, .size = 2, .host = "alpha", .process = 12, .mark = "b"};
    EXPECT_EQ(contradiction(kFirst, other), "RANK is 0 with two workers, process 11 on alpha and process 12 on alpha; each must have its own.");
}

TEST(RankClaim, WhatAStrangerSaysIsNoClaim) {
    for (const std::string said : {"", "1", "0 2 11 a", "x 2 11 a alpha", "2 2 11 a alpha", "-1 2 11 a alpha", "0 0 11 a alpha", "0 5000 11 a alpha",
                                   "0 2 -11 a alpha", "0 99999999999 11 a alpha"})
        EXPECT_FALSE(claimFrom(said)) << said;
    EXPECT_FALSE(claimFrom("0 2 11 a " + std::string(1000, 'h')));
    EXPECT_EQ(claimFrom("0 2 11 a al\x1bpha")->host.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace stepscope
