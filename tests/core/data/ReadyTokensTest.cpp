// Token files of nanoGPT and llm.c, and damaged ones.
#include <gmock/gmock.h>

#include "TemporaryFolder.h"
#include "core/data/tokens/ReadyTokens.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using testing::bytesOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string llmcHeader(std::int32_t magic, std::int32_t version, std::int32_t tokens) {
    std::vector<std::int32_t> header(256, 0);
    header[0] = magic;
    header[1] = version;
    header[2] = tokens;
    return bytesOf(header);
}

Result<ReadyTokens> read(const std::string& bytes) {
    auto owner = std::make_shared<std::string>(bytes);
    return readReadyTokens(*owner, owner, "tokens.bin");
}

TEST(ReadyTokens, ReadsNanoGptsRowOf16Bits) {
    const TemporaryFolder folder;
    const auto ready = openReadyTokens(folder.write("train.bin", bytesOf(std::vector<std::uint16_t>{1, 50256, 3, 65535})));
    ASSERT_TRUE(ready.ok()) << ready.error().sentence;
    EXPECT_EQ(ready->format, ReadyTokens::Format::Plain);
    EXPECT_THAT(testing::idsOf(*ready->row), ::testing::ElementsAre(1, 50256, 3, 65535));
}

TEST(ReadyTokens, ReadsLlmcsFilesOfGpt2AndLlama3) {
    auto ready = read(llmcHeader(20240520, 1, 3) + bytesOf(std::vector<std::uint16_t>{7, 8, 50256}));
    ASSERT_TRUE(ready.ok()) << ready.error().sentence;
    EXPECT_EQ(ready->format, ReadyTokens::Format::LlmcGpt2);
    EXPECT_THAT(testing::idsOf(*ready->row), ::testing::ElementsAre(7, 8, 50256));
    ready = read(llmcHeader(20240801, 7, 2) + bytesOf(std::vector<std::uint32_t>{128'000, 9}));
    ASSERT_TRUE(ready.ok()) << ready.error().sentence;
    EXPECT_EQ(ready->format, ReadyTokens::Format::LlmcLlama3);
    EXPECT_THAT(testing::idsOf(*ready->row), ::testing::ElementsAre(128'000, 9));
}

// Ids as they come from a text: small and large.
template <class Id>
std::vector<Id> someIds(std::size_t count, std::uint64_t most) {
    std::vector<Id> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<Id>((i * 7919 + i * i * 31) % most));
    return ids;
}

TEST(ReadyTokens, RefusesOtherProgramsFilesUnderTheNameOfTokens) {
    const std::string ids = bytesOf(someIds<std::uint16_t>(500, 50257));
    for (const auto& [begins, word] :
         {std::pair{std::string("\x93NUMPY\1\0", 8), "NumPy"}, {std::string("PK\3\4"), "zip"}, {"\x28\xB5\x2F\xFD", "zstd"}}) {
        const auto ready = read(begins + ids);
        ASSERT_FALSE(ready.ok()) << word;
        EXPECT_THAT(ready.error().sentence, AllOf(HasSubstr("tokens.bin"), HasSubstr(word)));
    }
}

TEST(ReadyTokens, RefusesIdsOf32And64BitsUnderTheNameOf16) {
    for (const std::uint64_t most : {50257, 256, 128256}) {
        const auto wide = read(bytesOf(someIds<std::uint32_t>(500, most))), wider = read(bytesOf(someIds<std::int64_t>(500, most)));
        ASSERT_FALSE(wide.ok()) << most;
        EXPECT_THAT(wide.error().sentence, HasSubstr("ids of 32 bits")) << most;
        ASSERT_FALSE(wider.ok()) << most;
        EXPECT_THAT(wider.error().sentence, HasSubstr("bits")) << most;
        const auto narrow = read(bytesOf(someIds<std::uint16_t>(500, std::min<std::uint64_t>(most, 65536))));
        EXPECT_TRUE(narrow.ok()) << most;
    }
    EXPECT_THAT(read(bytesOf(someIds<std::int64_t>(500, 50257))).error().sentence, HasSubstr("ids of 64 bits"));
    EXPECT_TRUE(read(bytesOf(std::vector<std::uint16_t>(1000, 0))).ok()) << "nothing but one id";
    EXPECT_TRUE(read(bytesOf(someIds<std::uint16_t>(1000, 10))).ok()) << "a small alphabet";
}

TEST(ReadyTokens, ReadsAFolderOfShardsInTheOrderOfTheirNamesThoseForValidationLast) {
    const TemporaryFolder folder;
    const auto shard = [&](const std::string& name, std::uint16_t first) {
        folder.write(name, llmcHeader(20240520, 1, 3) + bytesOf(std::vector<std::uint16_t>{first, 50256, 3}));
    };
    shard("fineweb_val_000000.bin", 100);
    shard("fineweb_train_000002.bin", 2);
    shard("fineweb_train_000001.bin", 1);
    folder.write("meta.pkl", "not tokens");
    ASSERT_TRUE(isFolderOfShards(folder.path()));
    const auto ready = openReadyTokens(folder.path());
    ASSERT_TRUE(ready.ok()) << ready.error().sentence;
    EXPECT_THAT(testing::idsOf(*ready->row), ::testing::ElementsAre(1, 50256, 3, 2, 50256, 3, 100, 50256, 3));
    EXPECT_EQ(ready->trainTokens, 6);
    EXPECT_EQ(ready->shards, 3);
    std::vector<std::int64_t> across(4);
    ready->row->copy(2, 4, across.data());
    EXPECT_THAT(across, ::testing::ElementsAre(3, 2, 50256, 3)) << "across the edge of two shards";
    folder.write("readme.txt", "a text");
    EXPECT_FALSE(isFolderOfShards(folder.path())) << "a folder of texts is read as text";
}

TEST(ReadyTokens, NamesTheShardThatIsOfAnotherKindAndTellsShardsApart) {
    const TemporaryFolder folder;
    folder.write("a.bin", bytesOf(someIds<std::uint16_t>(50, 1000)));
    const auto one = openReadyTokens(folder.path());
    ASSERT_TRUE(one.ok()) << one.error().sentence;
    EXPECT_EQ(one->trainTokens, 0) << "nobody has split them";
    folder.write("b.bin", bytesOf(someIds<std::uint16_t>(60, 1000)));
    EXPECT_NE(openReadyTokens(folder.path())->identity, one->identity);
    folder.write("b.bin", llmcHeader(20240520, 1, 1) + bytesOf(std::vector<std::uint16_t>{7}));
    const auto mixed = openReadyTokens(folder.path());
    ASSERT_FALSE(mixed.ok());
    EXPECT_THAT(mixed.error().sentence, HasSubstr("b.bin"));
}

TEST(ReadyTokens, RefusesWhatDoesNotHoldTogetherAndNamesTheFile) {
    const std::string ids(20, '\1');
    const auto refused = [](const std::string& bytes) {
        const auto ready = read(bytes);
        EXPECT_FALSE(ready.ok());
        return ready ? std::string() : ready.error().sentence;
    };
    EXPECT_THAT(refused(""), AllOf(HasSubstr("tokens.bin"), HasSubstr("empty")));
    EXPECT_THAT(refused("abc"), AllOf(HasSubstr("tokens.bin"), HasSubstr("odd number")));
    EXPECT_THAT(refused(llmcHeader(20240520, 1, 11) + ids), AllOf(HasSubstr("11 tokens"), HasSubstr("10")));
    EXPECT_THAT(refused(llmcHeader(20240520, 1, -10) + ids), HasSubstr("-10"));
    EXPECT_THAT(refused(llmcHeader(20240801, 7, 10) + ids), HasSubstr("10 tokens"));
    EXPECT_THAT(refused(llmcHeader(20240520, 2, 10) + ids), HasSubstr("version 2"));
    EXPECT_THAT(refused(llmcHeader(20240520, 1, 10).substr(0, 100)), HasSubstr("cut short"));
    EXPECT_THAT(refused(llmcHeader(20240326, 3, 10) + ids), HasSubstr("weights"));
    EXPECT_THAT(refused(llmcHeader(20240328, 1, 10) + ids), HasSubstr("tokenizer"));
    EXPECT_THAT(refused("SSTOKENS and more of it"), HasSubstr("token cache"));
}

}  // namespace
}  // namespace stepscope
