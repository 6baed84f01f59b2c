// What workers of one run must have in common is compared before it begins, and the first thing that differs is named. CTest.
#include <gmock/gmock.h>

#include <memory>

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

// Nothing but its size is asked of it.
class RowOfSize final : public TokenRow {
public:
    explicit RowOfSize(std::int64_t size) : m_size(size) {}
    std::int64_t size() const override { return m_size; }
    void copy(std::int64_t, std::int64_t, std::int64_t*) const override {}

private:
    std::int64_t m_size;
};

// What is said where the second of two workers is not like the first.
std::string apart(const RunFacts& first, const RunFacts& second) {
    const Status same = sameFacts({sayFacts(first), sayFacts(second)}, "data, threads and weights");
    return same ? std::string() : same.error().sentence;
}

TEST(SameRun, AnotherProgramIsNamedAsOneThatMustBeTheSame) {
    const RunFacts program = programFacts();
    ASSERT_EQ(program.size(), 3u);
    EXPECT_EQ(apart(program, program), "");
    for (std::size_t i = 0; i < program.size(); ++i) {
        RunFacts other = program;
        EXPECT_NE(other[i].second, "");
        other[i].second = "0.0.9";
        EXPECT_EQ(apart(program, other), "Worker 1 of 2 has another " + program[i].first + " than worker 0, 0.0.9 instead of " + program[i].second +
                                             "; start all of them with the same program.");
    }
    EXPECT_EQ(program[0].first, "version");
    EXPECT_EQ(program[1].first, "build");
    EXPECT_THAT(program[1].second, ::testing::MatchesRegex("[0-9a-f]{16}")) << "one version is built of many sources";
    EXPECT_EQ(program[2].first, "LibTorch");
    // One that came before builds were compared.
    EXPECT_THAT(apart(program, {program[0]}), HasSubstr("another build than worker 0, none instead of "));
}

TEST(SameRun, OtherDataThreadsInstructionsAndWeightsAreNamed) {
    Corpus corpus{.tokens = std::make_shared<RowOfSize>(1000)};
    corpus.vocabulary = 256;
    corpus.trainTokens = 900;
    corpus.identity = "a text";
    const RunFacts own = startFacts(corpus, 2, "avx2", "state");
    EXPECT_EQ(apart(own, startFacts(corpus, 2, "avx2", "state")), "");
    EXPECT_EQ(
        apart(own, startFacts(corpus, 3, "avx2", "state")),
        "Worker 1 of 2 has another number of threads than worker 0, 3 instead of 2; start all of them with the same data, threads and weights.");
    EXPECT_THAT(apart(own, startFacts(corpus, 2, "avx512", "state")), HasSubstr("another instruction set than worker 0, avx512 instead of avx2"));
    EXPECT_THAT(apart(own, startFacts(corpus, 2, "avx2", "another")), HasSubstr("another state to begin with than worker 0"));
    Corpus other = corpus;
    other.identity = "another text";
    EXPECT_THAT(apart(own, startFacts(other, 2, "avx2", "state")), HasSubstr("another text than worker 0, another text instead of a text"));
    other = corpus;
    other.validationIdentity = "another text";
    EXPECT_THAT(apart(own, startFacts(other, 2, "avx2", "state")), HasSubstr("another validation text than worker 0"));
    other = corpus;
    other.trainTokens = 800;
    EXPECT_THAT(apart(own, startFacts(other, 2, "avx2", "state")), HasSubstr("another number of tokens than worker 0, 1000, 800 of them"));
    other = corpus;
    other.vocabulary = 257;
    EXPECT_THAT(apart(own, startFacts(other, 2, "avx2", "state")), HasSubstr("another vocabulary than worker 0, 257 instead of 256"));
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
