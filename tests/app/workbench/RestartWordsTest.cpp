// What workers that were started anew tell each other and the log.
#include <gmock/gmock.h>

#include "app/workbench/workers/Restart.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

const Restart kFound{.times = 2, .session = 7, .checkpoint = "/c/7/step-0000040", .step = 40, .reached = 57, .why = ""};

TEST(Restart, SaysFromWhereItGoesOnAndWhatIsMadeAgain) {
    EXPECT_EQ(sentenceOf(kFound), "Restarted for the 2nd time; going on from step 40, /c/7/step-0000040; steps 41 to 57 are made again.");
    Restart one = kFound;
    one.times = 1;
    one.reached = 41;
    EXPECT_THAT(sentenceOf(one), HasSubstr("for the 1st time; going on from step 40, /c/7/step-0000040; step 41 is made again."));
    one.times = 13;
    one.reached = 40;
    EXPECT_EQ(sentenceOf(one), "Restarted for the 13th time; going on from step 40, /c/7/step-0000040.");
    one.times = 23;
    one.checkpoint.clear();
    EXPECT_THAT(sentenceOf(one), HasSubstr("Restarted for the 23rd time; session 7 has no checkpoint to go on from, so it begins anew"));
    EXPECT_EQ(sentenceOf({.times = 4, .why = "nothing is known"}), "Restarted for the 4th time; nothing is known, so the run begins anew.");
}

TEST(Restart, IsHeardByTheOthersAsItWasSaid) {
    const auto heard = restartFrom(sayRestart(kFound));
    ASSERT_TRUE(heard);
    EXPECT_EQ(sentenceOf(*heard), sentenceOf(kFound));
    EXPECT_EQ(heard->session, 7);
    EXPECT_EQ(heard->reached, 57);
}

TEST(Restart, WhatAnotherProgramSaysIsRefused) {
    for (const char* said : {"", "{}", "[]", "7", "{\"times\":1}", R"({"times":-1,"session":7,"checkpoint":"/c","step":1,"reached":1,"why":""})",
                             R"({"times":1,"session":"7","checkpoint":"/c","step":1,"reached":1,"why":""})",
                             R"({"times":1,"session":18446744073709551615,"checkpoint":"/c","step":1,"reached":1,"why":""})",
                             R"({"times":1,"session":7,"checkpoint":3,"step":1,"reached":1,"why":""})"}) {
        const auto heard = restartFrom(said);
        ASSERT_FALSE(heard) << said;
        EXPECT_THAT(heard.error().sentence, HasSubstr("nothing that Stepscope says")) << said;
    }
}

}  // namespace
}  // namespace stepscope
