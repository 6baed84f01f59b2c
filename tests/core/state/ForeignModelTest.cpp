// Weights of other programs, whole and damaged: folders of transformers, in one file and in several, llm.c's files, and pickles, which nobody opens.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include "ForeignFolder.h"
#include "core/data/foreign/LlmcModel.h"
#include "core/state/foreign/ForeignModel.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kForeignModel;

class ForeignWeights : public testing::ForeignFolder {
protected:
    // What opening it says; its code is as expected.
    std::string refusal(ErrorCode code) const { return refusalOf(folder(), code); }
    static std::string refusalOf(const std::string& place, ErrorCode code) {
        const auto opened = openForeignModel(place);
        EXPECT_FALSE(opened.ok());
        if (opened) return {};
        EXPECT_EQ(opened.error().code, code) << opened.error().sentence;
        EXPECT_TRUE(opened.error().sentence.ends_with('.')) << opened.error().sentence;
        EXPECT_EQ(opened.error().sentence.find('\n'), std::string::npos);
        return opened.error().sentence;
    }
    static void expectWeights(const std::string& place, std::uint64_t seed = 9, double tolerance = 0) {
        auto opened = openForeignModel(place);
        ASSERT_TRUE(opened.ok()) << opened.error().sentence;
        ASSERT_TRUE(opened->model);
        EXPECT_EQ(*opened->model, kForeignModel);
        const auto weights = readWeights(*opened->tensors, place, *opened->model);
        ASSERT_TRUE(weights.ok()) << weights.error().sentence;
        const at::Tensor expected = TrainState::initialise(kForeignModel, seed).weights;
        EXPECT_LE((*weights - expected).abs().max().item<double>(), tolerance);
    }
    std::string writeLlmc(std::int32_t version, bool bf16, std::int64_t rows) const {
        std::string bytes = llmcHeader({.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .positions = 12}, false);
        const auto padded = static_cast<std::int32_t>(rows == 61 ? 0 : rows);
        std::memcpy(bytes.data() + 4, &version, 4);
        std::memcpy(bytes.data() + 28, &padded, 4);
        const TrainState state = TrainState::initialise(kForeignModel, 9);
        const auto add = [&](const at::Tensor& tensor) {
            const at::Tensor plain = tensor.to(bf16 ? at::kBFloat16 : at::kFloat).contiguous();
            bytes.append(static_cast<const char*>(plain.data_ptr()), static_cast<std::size_t>(plain.numel()) * (bf16 ? 2 : 4));
        };
        for (const LlmcGroup& group : llmcGroups())
            for (std::int64_t l = 0; l < (group.ofBlocks ? 2 : 1); ++l) {
                const std::string name = group.ofBlocks ? "h." + std::to_string(l) + "." + group.name : group.name;
                add(ParameterLayout::view(state.weights, state.layout.slot(name)));  // (out, in), as llm.c has them
                if (name == "wte.weight") add(at::ones({rows - 61, 16}));
            }
        std::ofstream(path("model.bin"), std::ios::binary) << bytes;
        return path("model.bin");
    }
};

TEST_F(ForeignWeights, OfOneFileAndOfManyHasTheSameWeights) {
    writeConfig();
    writeTensors("model.safetensors", tensors());
    expectWeights(folder());
    fs::remove(file("model.safetensors"));
    writeShards(tensors());
    expectWeights(folder());
    NamedTensors plain = tensors();
    for (auto& [name, tensor] : plain) name = name.substr(std::string("transformer.").size());
    writeShards(plain);
    expectWeights(folder());
}

TEST_F(ForeignWeights, StartsARunAndCutsItsPositionsToTheContext) {
    writeConfig();
    NamedTensors all = tensors();
    all.emplace_back("transformer.h.0.attn.bias", at::ones({1, 1, 12, 12}));
    all.emplace_back("transformer.h.0.attn.masked_bias", at::ones({}));
    all.emplace_back("lm_head.weight", all.front().second.clone());
    writeShards(all);
    GptConfig shorter = kForeignModel;
    shorter.positions = 5;
    shorter.paddedVocabulary = 64;
    const auto loaded = loadInitialWeights(folder(), shorter, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_THAT(loaded->note, HasSubstr("Of its 12 positions the first 5 are used"));
    const TrainState whole = TrainState::initialise(kForeignModel, 9);
    EXPECT_TRUE(at::equal(ParameterLayout::view(loaded->state.weights, loaded->state.layout.slot("h.1.mlp.c_fc.weight")),
                          ParameterLayout::view(whole.weights, whole.layout.slot("h.1.mlp.c_fc.weight"))));
    const auto shape = shapeOfWeights(folder(), {});
    ASSERT_TRUE(shape.ok()) << shape.error().sentence;
    EXPECT_EQ(*shape, kForeignModel);
    GptConfig otherHeads = kForeignModel;
    otherHeads.heads = 4;
    for (const bool partial : {false, true}) {
        const auto refused = loadInitialWeights(folder(), otherHeads, 1, partial);
        ASSERT_FALSE(refused.ok()) << "no tensor tells the number of heads";
        EXPECT_THAT(refused.error().sentence, HasSubstr("another heads"));
    }
}

TEST_F(ForeignWeights, WithAHeadOfItsOwnHasItAndATiedOneHasNoOther) {
    GptConfig untied = kForeignModel;
    untied.tiedHead = false;
    writeConfig("tie_word_embeddings", false);
    writeTensors("model.safetensors", tensors(untied));
    auto opened = openForeignModel(folder());
    ASSERT_TRUE(opened.ok()) << opened.error().sentence;
    EXPECT_FALSE(opened->model->tiedHead);
    const auto weights = readWeights(*opened->tensors, folder(), *opened->model);
    ASSERT_TRUE(weights.ok()) << weights.error().sentence;
    EXPECT_TRUE(at::equal(*weights, TrainState::initialise(untied, 9).weights));
    writeConfig();
    EXPECT_THAT(refusal(ErrorCode::BadInput), AllOf(HasSubstr("tie_word_embeddings"), HasSubstr("lm_head.weight")));
    writeConfig("tie_word_embeddings", false);
    writeTensors("model.safetensors", tensors());
    EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr("no lm_head.weight"));
}

TEST_F(ForeignWeights, WhoseConfigurationAndTensorsContradictEachOtherIsRefusedBeforeMemoryIsTaken) {
    writeTensors("model.safetensors", tensors());
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::int64_t>>{{"n_layer", 1},
                                                                                      {"n_layer", 3},
                                                                                      {"n_layer", 1000},
                                                                                      {"n_embd", 32},
                                                                                      {"n_embd", 100'000},
                                                                                      {"vocab_size", 62},
                                                                                      {"vocab_size", 10'000'000},
                                                                                      {"n_positions", 13}}) {
        writeConfig(key, value);
        EXPECT_THAT(refusal(ErrorCode::BadInput), AllOf(HasSubstr("contradict"), HasSubstr("config.json"))) << key << " " << value;
    }
    writeConfig("n_layer", 1'000'000'000);
    EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr("n_layer"));
    writeConfig();
    NamedTensors lying = tensors();
    lying[2].second = lying[2].second.t().contiguous();
    writeTensors("model.safetensors", lying);
    EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr(lying[2].first.substr(12)));
}

TEST_F(ForeignWeights, WithAMissingShardALinkOutOrAForeignPathNamesIt) {
    writeConfig();
    const std::string first = "model-00001-of-00002.safetensors", second = "model-00002-of-00002.safetensors";
    const auto anew = [&] { writeShards(tensors()); };
    anew();
    fs::rename(file(second), path(second));
    EXPECT_THAT(refusal(ErrorCode::NotFound), HasSubstr(second));
    fs::create_symlink(path(second), file(second));
    EXPECT_THAT(refusal(ErrorCode::BadInput), AllOf(HasSubstr(second), HasSubstr("link")));
    fs::remove(file(second));
    fs::create_directory(file(second));
    EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr("not a file"));
    fs::remove(file(second));
    anew();
    expectWeights(folder());
    for (const std::string& outside : {"../" + second, path(second), std::string("sub/x.safetensors")}) {
        changeIndex("transformer.wte.weight", outside);
        EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr("same folder"));
    }
    anew();
    changeIndex("transformer.h.7.ln_1.weight", first);
    EXPECT_THAT(refusal(ErrorCode::Damaged), HasSubstr("h.7.ln_1.weight"));
    anew();
    changeIndex("transformer.wte.weight", second);
    EXPECT_THAT(refusal(ErrorCode::Damaged), HasSubstr("wte.weight"));
}

TEST_F(ForeignWeights, WhoseShardsOverlapOrHaveATensorTwiceIsRefused) {
    writeConfig();
    writeShards(tensors());
    const NamedTensors all = tensors();
    // Both files have the positions, of which the index names one.
    writeTensors("model-00002-of-00002.safetensors", NamedTensors(all.begin() + 1, all.end()));
    EXPECT_THAT(refusal(ErrorCode::Damaged), AllOf(HasSubstr("wpe.weight"), HasSubstr("mixes two models")));
    writeShards(tensors());
    // Two entries over the same bytes of one shard.
    const std::string shard = file("model-00001-of-00002.safetensors");
    const std::string bytes = read(shard);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    auto header = nlohmann::json::parse(bytes.substr(8, length));
    header["transformer.wpe.weight"]["data_offsets"] = {0, 12 * 16 * 4};
    std::string text = header.dump();
    text.resize(length, ' ');
    std::ofstream(shard, std::ios::binary) << bytes.substr(0, 8) << text << bytes.substr(8 + length);
    EXPECT_THAT(refusal(ErrorCode::Damaged), AllOf(HasSubstr("overlap"), HasSubstr("model-00001-of-00002.safetensors")));
    fs::resize_file(shard, 20);
    refusal(ErrorCode::Damaged);
}

TEST_F(ForeignWeights, ThatIsCutShortWhileItIsReadIsNotUsed) {
    writeConfig();
    GptConfig large = kForeignModel;
    large.vocabulary = large.paddedVocabulary = 5000;
    writeConfig("vocab_size", 5000);
    writeTensors("model.safetensors", tensors(large));
    auto opened = openForeignModel(folder());
    ASSERT_TRUE(opened.ok()) << opened.error().sentence;
    fs::resize_file(file("model.safetensors"), 8192);
    const auto weights = readWeights(*opened->tensors, folder(), *opened->model);
    ASSERT_FALSE(weights.ok());
    EXPECT_THAT(weights.error().sentence, HasSubstr("became shorter"));
}

TEST_F(ForeignWeights, OfAnotherArchitectureOrWithoutAConfigurationIsRefused) {
    EXPECT_THAT(refusal(ErrorCode::NotFound), HasSubstr("config.json"));
    write("state.json", "{}");
    EXPECT_THAT(refusal(ErrorCode::BadInput), HasSubstr("--resume"));
    write("config.json", R"({"model_type": "llama", "hidden_size": 16})");
    EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("llama"));
    writeConfig();
    EXPECT_THAT(refusal(ErrorCode::NotFound), HasSubstr("model.safetensors"));
    write("model.safetensors.index.json", "{\"weight_map\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}");
    EXPECT_THAT(refusal(ErrorCode::Damaged), HasSubstr("nest"));
    EXPECT_THAT(refusalOf(path("nowhere"), ErrorCode::NotFound), HasSubstr("nowhere"));
}

TEST_F(ForeignWeights, ThatIsAPickleIsNeverLoaded) {
    writeConfig();
    for (const std::string& pickle : {std::string("PK\x03\x04 archive/data.pkl"), std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.")}) {
        write("pytorch_model.bin", pickle);
        EXPECT_THAT(refusal(ErrorCode::Unsupported), AllOf(HasSubstr("pytorch_model.bin"), HasSubstr("save_pretrained")));
        EXPECT_THAT(refusalOf(file("pytorch_model.bin"), ErrorCode::Unsupported), HasSubstr("never loaded"));
        fs::remove(file("pytorch_model.bin"));
        write("model.safetensors", pickle);  // whatever it calls itself
        EXPECT_THAT(refusal(ErrorCode::Unsupported), AllOf(HasSubstr("model.safetensors"), HasSubstr("never loaded")));
        fs::remove(file("model.safetensors"));
    }
    write("tf_model.h5", "x");
    EXPECT_THAT(refusal(ErrorCode::Unsupported), HasSubstr("tf_model.h5"));
}

TEST_F(ForeignWeights, OfLlmcIsTheSameInEveryVersion) {
    expectWeights(writeLlmc(2, false, 61));
    expectWeights(writeLlmc(3, true, 61), 9, 4e-3);
    expectWeights(writeLlmc(3, false, 128));
    const std::string place = writeLlmc(5, true, 128);
    expectWeights(place, 9, 4e-3);
    const auto loaded = loadInitialWeights(place, kForeignModel, 1, false);
    ASSERT_TRUE(loaded.ok()) << loaded.error().sentence;
    EXPECT_TRUE(loaded->note.empty()) << loaded->note;
    fs::resize_file(place, fs::file_size(place) - 2);
    EXPECT_THAT(refusalOf(place, ErrorCode::Damaged), HasSubstr("bytes"));
}

TEST_F(ForeignWeights, SaysWhatItKnowsOfItsTokenizer) {
    writeConfig();
    writeTensors("model.safetensors", tensors());
    const auto without = openForeignModel(folder());
    ASSERT_TRUE(without.ok());
    EXPECT_THAT(without->whyNoTokenizer, HasSubstr("vocab.json"));
    EXPECT_EQ(tokenizerOf(*without, true).value(), nullptr);
    write("tokenizer.json", R"({"model": {"type": "Unigram"}})");
    EXPECT_THAT(openForeignModel(folder())->whyNoTokenizer, AllOf(HasSubstr("tokenizer.json"), HasSubstr("BPE")));
    const auto texts = bytePairTexts(*byteTokenizer()).value();
    write("vocab.json", texts.vocabulary);
    write("merges.txt", texts.merges);
    EXPECT_THAT(openForeignModel(folder())->whyNoTokenizer, HasSubstr("BPE")) << "other programs read tokenizer.json first";
    write("tokenizer_config.json", R"({"add_prefix_space": true})");
    fs::remove(folder() + "/tokenizer.json");
    EXPECT_THAT(openForeignModel(folder())->whyNoTokenizer, HasSubstr("add_prefix_space"));
    fs::remove(folder() + "/tokenizer_config.json");
    const auto with = openForeignModel(folder());
    ASSERT_TRUE(with.ok());
    EXPECT_EQ(tokenizerOf(*with, true).value()->name(), "byte");
}

}  // namespace
}  // namespace stepscope
