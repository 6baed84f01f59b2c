// Weights out for other programs and in again, as a person does it: the same text, the same loss, the tokenizer that the model came with.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ForeignWeightsCli : public CliFixture {
protected:
    Finished exported(const Words& more) const {
        Words words{"checkpoint", "export", "1", path("out"), "--db", database()};
        words.insert(words.end(), more.begin(), more.end());
        return cli(words);
    }
    std::string text(const std::string& from) const {
        const auto finished = cli({"generate", "--from", from, "--db", database(), "--prompt", "In the ", "--tokens", "40", "--temperature", "0"});
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return finished.out;
    }
    double loss(const std::string& from, const std::string& data) const {
        const auto finished = cli({"eval", "--from", from, "--db", database(), "--data", data, "--json", "--threads", "1"});
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return finished.exitCode == 0 ? Json::parse(finished.out)["loss"].get<double>() : 0;
    }
    std::string someText() const {
        std::string all;
        for (int i = 0; i < 900; ++i) all += (i % 7 == 0 ? "the " : "abc ") + std::to_string(i % 13);
        return write("some.txt", all);
    }
    // In place of the vocabulary that an export wrote: with merges, so that ids are no bytes.
    void giveItsOwnVocabulary(const std::string& folder) const {
        auto vocabulary = Json::parse(read(folder + "/vocab.json"));
        for (const char* product : {"ab", "abc", "th", "the"}) vocabulary[product] = vocabulary.size();
        std::ofstream(folder + "/vocab.json") << vocabulary;
        std::ofstream(folder + "/merges.txt") << "#version: 0.2\na b\nab c\nt h\nth e\n";
    }
};

TEST_F(ForeignWeightsCli, WhatWasExportedWritesTheSameTextAndHasTheSameLoss) {
    train({"--steps", "30"});
    const std::string own = text("1"), data = someText();
    const double ownLoss = loss("1", data);
    const auto told = exported({"--json"});
    ASSERT_EQ(told.exitCode, 0) << told.err;
    const Json answer = Json::parse(told.out);
    EXPECT_EQ(answer["format"], "hf");
    EXPECT_GT(answer["bytes"], 4 * answer["parameters"].get<std::int64_t>());
    EXPECT_EQ(text(path("out")), own);
    EXPECT_EQ(text(path("out") + "/model.safetensors"), own) << "a file in it, as people complete it";
    EXPECT_NEAR(loss(path("out"), data), ownLoss, 1e-6);
    ASSERT_EQ(cli({"checkpoint", "export", "1", path("shards"), "--db", database(), "--shard-size", "4000"}).exitCode, 0);
    EXPECT_EQ(text(path("shards")), own);
    ASSERT_EQ(cli({"checkpoint", "export", path("shards"), path("llmc"), "--format", "llmc"}).exitCode, 0) << "from one form into another";
    const auto weightsAlone = cli({"checkpoint", "export", path("llmc") + "/model.bin", path("from-llmc")});
    ASSERT_EQ(weightsAlone.exitCode, 0) << weightsAlone.err;
    EXPECT_THAT(weightsAlone.out + weightsAlone.err, AllOf(HasSubstr("No tokenizer is written: "), testing::Not(HasSubstr("the run trained"))));
    std::string ids;
    for (int i = 0; i < 200; ++i) ids += {static_cast<char>(i % 97), '\0'};
    write("ids.bin", ids);
    EXPECT_NEAR(loss(path("llmc") + "/model.bin", path("ids.bin")), loss("1", path("ids.bin")), 1e-9);
    const auto half = cli({"checkpoint", "export", "1", path("half"), "--db", database(), "--dtype", "bf16"});
    ASSERT_EQ(half.exitCode, 0) << half.err;
    EXPECT_THAT(half.out, AllOf(HasSubstr("bf16"), HasSubstr("model.safetensors"), HasSubstr("256 bytes")));
    EXPECT_NEAR(loss(path("half"), data), ownLoss, 0.05);
}

TEST_F(ForeignWeightsCli, ARunThatBeginsFromAFolderHasItsModelAndKeepsItsTokenizer) {
    train({"--set", "vocabulary=300"});
    ASSERT_EQ(exported({}).exitCode, 0);
    giveItsOwnVocabulary(path("out"));
    const auto begun = cli({"train", "--preset", "tiny-cpu", "--data", someText(), "--db", database(), "--steps", "4", "--init", path("out"), "--set",
                            "threads=1", "--set", "batch-size=2", "--set", "warmup=1"});
    ASSERT_EQ(begun.exitCode, 0) << begun.err;
    const Json config = session(2)["config"];
    EXPECT_EQ(config["layers"], 1);
    EXPECT_EQ(config["width"], 16);
    EXPECT_EQ(config["vocabulary"], 300);
    EXPECT_EQ(config["tokenizer"], "gpt2");
    EXPECT_EQ(config["context"], 16) << "no more than its positions";
    // The folder goes; the checkpoint has all that is needed to go on and to write text.
    const std::string vocabulary = read(path("out") + "/vocab.json"), merges = read(path("out") + "/merges.txt");
    fs::remove_all(path("out"));
    const auto resumed = cli({"train", "--resume", "2", "--db", database(), "--steps", "6"});
    ASSERT_EQ(resumed.exitCode, 0) << resumed.err;
    text("3");
    ASSERT_EQ(cli({"checkpoint", "export", "3", path("again"), "--db", database()}).exitCode, 0);
    EXPECT_EQ(read(path("again") + "/vocab.json"), vocabulary);
    EXPECT_EQ(read(path("again") + "/merges.txt"), merges);
    ASSERT_EQ(cli({"checkpoint", "export", "3", path("out"), "--db", database()}).exitCode, 0);
    const auto otherIds = cli({"train", "--preset", "tiny-cpu", "--data", path("some.txt"), "--no-record", "--steps", "2", "--init", path("out"),
                               "--set", "tokenizer=byte", "--set", "warmup=1"});
    EXPECT_EQ(otherIds.exitCode, 0) << otherIds.err;
    EXPECT_THAT(otherIds.err, HasSubstr("the ids mean other things"));
    const auto other = cli({"train", "--resume", "2", "--db", database(), "--steps", "6", "--no-record", "--set", "tokenizer=byte"});
    expectRefused(other, {"tokenizer"}, kBadInput);
}

// So hot that every id is about as likely as the next, the one that ends a text too.
TEST_F(ForeignWeightsCli, ATextEndsWhereTheModelWritesTheEndUnlessThatIsIgnored) {
    train({"--set", "vocabulary=300"});
    ASSERT_EQ(exported({}).exitCode, 0);
    giveItsOwnVocabulary(path("out"));
    auto vocabulary = Json::parse(read(path("out") + "/vocab.json"));
    vocabulary["<|endoftext|>"] = vocabulary.size();
    std::ofstream(path("out") + "/vocab.json") << vocabulary;
    Words words{"generate", "--from", path("out"), "--prompt", "In the ", "--tokens", "6000", "--temperature", "100", "--json"};
    const auto ended = cli(words);
    ASSERT_EQ(ended.exitCode, 0) << ended.err;
    EXPECT_LT(Json::parse(ended.out)["text_tokens"], 6000);
    EXPECT_EQ(Json::parse(ended.out)["stopped"], false);
    EXPECT_THAT(ended.out, ::testing::Not(HasSubstr("endoftext")));
    words.push_back("--ignore-eos");
    const auto whole = cli(words);
    ASSERT_EQ(whole.exitCode, 0) << whole.err;
    EXPECT_EQ(Json::parse(whole.out)["text_tokens"], 6000);
}

TEST_F(ForeignWeightsCli, WhatARunBeginsFromIsStoredWithItsSettings) {
    train({"--steps", "30"});
    ASSERT_EQ(exported({}).exitCode, 0);
    const Words same{"--set", "tokenizer=byte", "--set", "vocabulary=0", "--set", "context=16"};
    const auto with = [&](Words words) {
        words.insert(words.end(), same.begin(), same.end());
        return train(words)["loss_first"];
    };
    const auto random = with({});
    const auto byOption = with({"--init", path("out")}), byKey = with({"--set", "init=" + path("out")});
    EXPECT_EQ(session(3)["config"]["init"], path("out"));
    EXPECT_EQ(session(4)["config"]["init"], path("out"));
    EXPECT_EQ(byOption, byKey) << "the option is the key";
    EXPECT_NE(byKey, random);
    EXPECT_EQ(session(2)["config"]["init"], "random");
    const auto resumed = cli({"train", "--resume", "4", "--db", database(), "--steps", "14", "--json"});
    EXPECT_EQ(resumed.exitCode, 0) << resumed.err;
    expectRefused(cli({"train", "--resume", "4", "--db", database(), "--steps", "20", "--set", "init=random"}), {"leave init as it was"}, kBadInput);
}

TEST_F(ForeignWeightsCli, WeightsThatGiveNoNumbersHaveNoLoss) {
    train();
    ASSERT_EQ(exported({}).exitCode, 0);
    const std::string weights = path("out") + "/model.safetensors", data = someText();
    ASSERT_EQ(cli({"eval", "--from", path("out"), "--data", data}).exitCode, 0);
    {
        std::fstream file(weights, std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(-16, std::ios::end);
        file << std::string(16, '\xFF');
    }
    expectRefused(cli({"eval", "--from", path("out"), "--data", data}), {path("out"), "give no numbers"}, kTraining);
    expectRefused(cli({"eval", "--from", path("out"), "--data", data, "--dtype", "int8", "--json"}), {path("out"), "give no numbers"}, kTraining);
}

TEST_F(ForeignWeightsCli, ImportedWeightsArePrunedIntoACheckpointThatTrainsOn) {
    train({"--steps", "30"});
    ASSERT_EQ(exported({}).exitCode, 0);
    ASSERT_EQ(cli({"checkpoint", "export", "1", path("llmc"), "--db", database(), "--format", "llmc"}).exitCode, 0);
    const std::string data = someText();
    const auto pruned = cli({"prune", "--from", path("out"), "--out", path("half"), "--sparsity", "0.5", "--data", data, "--json"});
    ASSERT_EQ(pruned.exitCode, 0) << pruned.err;
    const Json told = Json::parse(pruned.out);
    EXPECT_NEAR(told["loss_before"].get<double>(), loss(path("out"), data), 1e-5);
    EXPECT_NEAR(told["loss_after"].get<double>(), loss(path("half"), data), 1e-5);
    EXPECT_NE(told["loss_after"], told["loss_before"]);
    text(path("half"));
    const auto trained = cli({"train", "--resume", path("half"), "--keep-zeros", "--db", database(), "--steps", "3", "--set", "batch-size=2", "--set",
                              "warmup=1", "--json"});
    ASSERT_EQ(trained.exitCode, 0) << trained.err;
    EXPECT_EQ(session(2)["config"]["data"], data) << "the text that it was evaluated on";
    EXPECT_EQ(session(2)["config"]["layers"], 1);
    std::string ids;
    for (int i = 0; i < 200; ++i) ids += {static_cast<char>(i % 97), '\0'};
    write("ids.bin", ids);
    EXPECT_EQ(cli({"prune", "--from", path("llmc") + "/model.bin", "--out", path("third"), "--pattern", "2:4", "--data", path("ids.bin")}).exitCode,
              0);
}

TEST_F(ForeignWeightsCli, WhatCannotBeReadOrWrittenIsSaidInOneSentence) {
    train();
    ASSERT_EQ(exported({}).exitCode, 0);
    expectRefused(exported({}), {path("out"), "already there"}, kBadInput);
    EXPECT_EQ(exported({"--force"}).exitCode, 0);
    expectRefused(cli({"eval", "--from", path("out")}), {path("out"), "--data"}, kBadInput);
    expectRefused(cli({"prune", "--from", path("out"), "--out", path("x"), "--sparsity", "0.5"}), {path("out"), "--data"}, kBadInput);
    EXPECT_FALSE(fs::exists(path("x")));
    expectRefused(cli({"eval", "--from", path("nowhere")}), {path("nowhere"), "is not there"}, kNotFound);
    expectRefused(cli({"eval", "--from", someText()}), {"some.txt", "it is a file"}, kNotFound);
    expectRefused(cli({"checkpoint", "export", "9", path("x"), "--db", database()}), {"9"}, kNotFound);
    expectRefused(cli({"checkpoint", "export", "1", "/dev/null/x", "--db", database()}), {"/dev/null/x"}, kIo);
    expectRefused(cli({"checkpoint", "export", "1", path("x"), "--db", database(), "--shard-size", "0"}), {"--shard-size"}, kBadInput);
    expectRefused(cli({"checkpoint", "export", "1", path("x"), "--db", database(), "--format", "gguf"}), {"--format"}, kUsage);
    expectRefused(cli({"checkpoint", "export", "1", "", "--db", database()}), {"folder"}, kBadInput);
    EXPECT_FALSE(fs::exists(path("x")));
    const std::string pickle = write("pytorch_model.bin", "PK\x03\x04 archive/data.pkl");
    expectRefused(cli(tiny({"--no-record", "--init", pickle})), {"never loaded", "safetensors"}, kUnsupported);
    fs::remove(path("out") + "/vocab.json");
    expectRefused(cli({"generate", "--from", path("out")}), {"vocab.json"}, kUnsupported);
    std::ofstream(path("out") + "/config.json") << R"({"model_type": "bert"})";
    expectRefused(cli({"generate", "--from", path("out")}), {"config.json", "bert"}, kUnsupported);
    expectRefused(cli(tiny({"--no-record", "--init", path("out")})), {"bert"}, kUnsupported);

    train({"--set", "norm=rmsnorm"});
    expectRefused(cli({"checkpoint", "export", "2", path("x"), "--db", database()}), {"norm=rmsnorm", "LayerNorm"}, kUnsupported);
}

}  // namespace
}  // namespace stepscope::test
