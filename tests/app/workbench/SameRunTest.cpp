// What workers of one run must have in common is compared before it begins, and the first thing that differs is named. CTest.
#include <gmock/gmock.h>

#include "app/workbench/workers/SameRun.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

std::string saying(const RunRequest& request) {
    return sayFacts(settingsOf(request));
}

TEST(SameRun, TheSameSettingsGoTogether) {
    const RunRequest request;
    EXPECT_TRUE(sameFacts({saying(request), saying(request), saying(request)}, "words"));
}

TEST(SameRun, AKeyThatDiffersIsNamedWithBothValues) {
    const RunRequest first;
    RunRequest other;
    other.config.lr = 0.004;
    const Status same = sameFacts({saying(first), saying(first), saying(other)}, "words");
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().sentence, "Worker 2 of 3 has another lr than worker 0, 0.004 instead of 0.001; start all of them with the same words.");
}

TEST(SameRun, AFlipThatOneAloneWillMakeIsNamed) {
    const RunRequest first;
    RunRequest other;
    other.scheduled.push_back({100, Flip{"amp", std::string("bf16")}});
    EXPECT_THAT(sameFacts({saying(first), saying(other)}, "words").error().sentence,
                HasSubstr("another flip than worker 0, 100:amp=bf16 instead of none"));
    EXPECT_THAT(sameFacts({saying(other), saying(first)}, "words").error().sentence,
                HasSubstr("another flip than worker 0, none instead of 100:amp=bf16"));
}

TEST(SameRun, ALongValueIsShownWithoutHalfACharacter) {
    std::string value = "x";
    while (value.size() < 300) value += "\u00E4";
    const Status same = sameFacts({sayFacts({{"data", "a"}}), sayFacts({{"data", value}})}, "words");
    ASSERT_FALSE(same);
    EXPECT_THAT(same.error().sentence, HasSubstr(value.substr(0, 199) + "\u2026 instead of a"));
}

TEST(SameRun, WhatAStrangerSaysIsASentence) {
    const RunRequest first;
    for (const std::string said : {"", "{}", "[1]", "[[\"version\"]]", "[[\"version\", 1]]", "[[[[[[[["})
        EXPECT_THAT(sameFacts({saying(first), said}, "words").error().sentence,
                    HasSubstr("What came from worker 1 of 2 is nothing that Stepscope says"));
}

}  // namespace
}  // namespace stepscope
