// Token files of nanoGPT and llm.c, and damaged ones.
#include <gmock/gmock.h>

#include "TemporaryFolder.h"
#include "core/data/ReadyTokens.h"

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
