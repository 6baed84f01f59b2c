// The folder of token caches stays within its bounds, and what is in use or not ours is left alone.
#include <gmock/gmock.h>

#include <chrono>

#include "TemporaryFolder.h"
#include "core/data/tokens/TokenCache.h"
#include "core/data/tokens/TokenCacheFolder.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class TokenCacheFolder : public ::testing::Test {
protected:
    std::string textOf(int number) const { return testing::lines(100) + std::to_string(number); }
    std::string pathOf(int number) const { return tokenCachePath(m_folder.path(), textOf(number), *m_bytes); }
    CachedTokens open(int number) const {
        auto tokens = cachedTokens(
            textOf(number), "a text", *m_bytes, m_folder.path(), [](const std::string&, double) {}, testing::kNeverCancelled);
        EXPECT_TRUE(tokens.ok());
        return *std::move(tokens);
    }
    // As if it had been used `hours` ago.
    void age(int number, int hours) const { fs::last_write_time(pathOf(number), fs::file_time_type::clock::now() - std::chrono::hours(hours)); }
    std::vector<int> left(int count) const {
        std::vector<int> numbers;
        for (int i = 0; i < count; ++i)
            if (fs::exists(pathOf(i))) numbers.push_back(i);
        return numbers;
    }

    testing::TemporaryFolder m_folder;
    std::shared_ptr<const Tokenizer> m_bytes = byteTokenizer();
};

TEST_F(TokenCacheFolder, RemovesWhatWasNotUsedForTheLongestTime) {
    for (int i = 0; i < 5; ++i) {
        open(i);
        age(i, 10 - i);
    }
    open(0);  // the oldest is used again
    boundTokenCaches(m_folder.path(), {.files = 3});
    EXPECT_THAT(left(5), ::testing::ElementsAre(0, 3, 4));
    const auto bytes = static_cast<std::int64_t>(fs::file_size(pathOf(0)));
    boundTokenCaches(m_folder.path(), {.bytes = {2 * bytes}});
    EXPECT_THAT(left(5), ::testing::ElementsAre(0, 4));
}

TEST_F(TokenCacheFolder, MayTakeATenthOfALargeDisk) {
    EXPECT_EQ(limitsOn({0}).bytes.count, 10'000'000'000);
    EXPECT_EQ(limitsOn({90'000'000'000}).bytes.count, 10'000'000'000);
    EXPECT_EQ(limitsOn({1'000'000'000'000}).bytes.count, 100'000'000'000);
    EXPECT_EQ(limitsOn({1'000'000'000'000}).files, TokenCacheLimits{}.files);
}

TEST_F(TokenCacheFolder, NeverRemovesOneThatIsInUse) {
    const CachedTokens held = open(0);
    open(1);
    age(0, 5);
    boundTokenCaches(m_folder.path(), {.files = 0});
    EXPECT_THAT(left(2), ::testing::ElementsAre(0));
    EXPECT_EQ(held.row->size(), static_cast<std::int64_t>(textOf(0).size()));
}

TEST_F(TokenCacheFolder, LeavesFilesOfOthersAlone) {
    m_folder.write("mine.bin", std::string(4096, 'x'));
    m_folder.write("notes.txt", "SSTOKENS");
    open(0);
    boundTokenCaches(m_folder.path(), {.files = 0});
    EXPECT_THAT(left(1), ::testing::IsEmpty());
    EXPECT_TRUE(fs::exists(m_folder.path("mine.bin")) && fs::exists(m_folder.path("notes.txt")));
}

TEST_F(TokenCacheFolder, IsBoundedEachTimeACacheIsMade) {
    for (int i = 0; i < 23; ++i) {
        open(i);
        age(i, 100 - i);
    }
    open(23);
    EXPECT_THAT(left(24), ::testing::SizeIs(20));
    EXPECT_THAT(left(24), ::testing::Contains(23));
}

}  // namespace
}  // namespace stepscope
