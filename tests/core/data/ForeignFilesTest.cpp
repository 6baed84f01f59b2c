// What the files of other programs say of a model, as a stranger may have written it: config.json and the index of Hugging Face's transformers, the
// header of llm.c's weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

#include "TemporaryFolder.h"
#include "core/data/foreign/HuggingFaceConfig.h"
#include "core/data/foreign/LlmcModel.h"
#include "core/data/foreign/ShardIndex.h"

namespace stepscope {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

json smallConfig() {
    return {{"model_type", "gpt2"}, {"n_layer", 2}, {"n_head", 2}, {"n_embd", 16}, {"vocab_size", 61}, {"n_positions", 12}};
}

std::string configRefusal(const json& config, ErrorCode code) {
    const auto read = parseHuggingFaceConfig(config.dump(), "there/config.json");
    EXPECT_FALSE(read.ok()) << config.dump();
    if (read) return {};
    EXPECT_EQ(read.error().code, code) << read.error().sentence;
    EXPECT_TRUE(read.error().sentence.starts_with("there/config.json ")) << read.error().sentence;
    EXPECT_TRUE(read.error().sentence.ends_with('.')) << read.error().sentence;
    return read.error().sentence;
}

std::string refusalWith(const std::string& key, const json& value, ErrorCode code) {
    json config = smallConfig();
    config[key] = value;
    const std::string sentence = configRefusal(config, code);
    EXPECT_THAT(sentence, HasSubstr(key));
    return sentence;
}

TEST(HuggingFaceConfig, GivesTheSizesAndTakesTransformersOwnWhereNothingIsSaid) {
    const auto small = parseHuggingFaceConfig(smallConfig().dump(), "f");
    ASSERT_TRUE(small.ok()) << small.error().sentence;
    EXPECT_EQ(*small, (Gpt2Sizes{.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .positions = 12, .tiedHead = true}));
    const auto usual = parseHuggingFaceConfig(R"({"model_type": "gpt2", "tie_word_embeddings": false})", "f");
    ASSERT_TRUE(usual.ok()) << usual.error().sentence;
    EXPECT_EQ(*usual, (Gpt2Sizes{.layers = 12, .heads = 12, .width = 768, .vocabulary = 50257, .positions = 1024, .tiedHead = false}));
    const auto renamed = parseHuggingFaceConfig(
        R"({"model_type": "gpt2", "num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 8, "max_position_embeddings": 9})", "f");
    ASSERT_TRUE(renamed.ok()) << renamed.error().sentence;
    EXPECT_EQ(*renamed, (Gpt2Sizes{.layers = 3, .heads = 4, .width = 8, .vocabulary = 50257, .positions = 9, .tiedHead = true}));
}

TEST(HuggingFaceConfig, WhatItWritesItReadsAgain) {
    for (const bool tied : {true, false}) {
        const Gpt2Sizes sizes{.layers = 3, .heads = 2, .width = 16, .vocabulary = 300, .positions = 20, .tiedHead = tied};
        const std::string text = huggingFaceConfig({.sizes = sizes, .dropout = 0.25, .endOfText = 299, .bf16 = true});
        const auto read = parseHuggingFaceConfig(text, "f");
        ASSERT_TRUE(read.ok()) << read.error().sentence;
        EXPECT_EQ(*read, sizes);
        const json all = json::parse(text);
        EXPECT_EQ(all["resid_pdrop"], 0.25);
        EXPECT_EQ(all["eos_token_id"], 299);
        EXPECT_EQ(all["torch_dtype"], "bfloat16");
    }
    EXPECT_TRUE(
        json::parse(huggingFaceConfig({.sizes = {.layers = 1, .heads = 1, .width = 1, .vocabulary = 9, .positions = 1}}))["eos_token_id"].is_null())
        << "transformers would take 50256";
}

TEST(HuggingFaceConfig, HonoursTheGeluByTanhUnderAnyOfItsNamesAndRefusesOthers) {
    for (const char* same : {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate"}) {
        json config = smallConfig();
        config["activation_function"] = same;
        EXPECT_TRUE(parseHuggingFaceConfig(config.dump(), "f").ok()) << same;
    }
    for (const json& other : {json("gelu"), json("relu"), json("silu"), json(3), json::array()})
        EXPECT_THAT(refusalWith("activation_function", other, ErrorCode::Unsupported), HasSubstr("gelu_new"));
}

TEST(HuggingFaceConfig, RefusesEachKeyOfAnotherArithmeticByItsName) {
    refusalWith("n_inner", 65, ErrorCode::Unsupported);
    refusalWith("layer_norm_epsilon", 1e-6, ErrorCode::Unsupported);
    refusalWith("layer_norm_epsilon", "NaN", ErrorCode::Unsupported);
    refusalWith("scale_attn_weights", false, ErrorCode::Unsupported);
    refusalWith("scale_attn_weights", nullptr, ErrorCode::Unsupported);
    refusalWith("scale_attn_by_inverse_layer_idx", true, ErrorCode::Unsupported);
    refusalWith("add_cross_attention", true, ErrorCode::Unsupported);
    refusalWith("pruned_heads", {{"0", {1}}}, ErrorCode::Unsupported);
    refusalWith("quantization_config", {{"bits", 4}}, ErrorCode::Unsupported);
    refusalWith("reorder_and_upcast_attn", "yes", ErrorCode::BadInput);
    refusalWith("tie_word_embeddings", 1, ErrorCode::BadInput);
    json harmless = smallConfig();
    harmless["n_inner"] = 64;
    harmless["reorder_and_upcast_attn"] = true;
    harmless["pruned_heads"] = json::object();
    harmless["layer_norm_epsilon"] = 1e-5;
    harmless["resid_pdrop"] = 0.1;
    EXPECT_TRUE(parseHuggingFaceConfig(harmless.dump(), "f").ok());
}

TEST(HuggingFaceConfig, RefusesOtherArchitecturesAndSizesThatCannotBe) {
    EXPECT_THAT(refusalWith("model_type", "llama", ErrorCode::Unsupported), HasSubstr("gpt2"));
    refusalWith("model_type", 7, ErrorCode::Unsupported);
    refusalWith("model_type", std::string(100'000, 'x'), ErrorCode::Unsupported);
    json nothing = smallConfig();
    nothing.erase("model_type");
    EXPECT_THAT(configRefusal(nothing, ErrorCode::Unsupported), HasSubstr("model_type"));
    for (const char* key : {"n_layer", "n_head", "n_embd", "vocab_size", "n_positions"})
        for (const json& wrong :
             {json(0), json(-1), json(1e9), json(1'000'000'000), json(1e30), json("12"), json("NaN"), json(1.5), json::array({1}), json(true)})
            refusalWith(key, wrong, ErrorCode::BadInput);
    EXPECT_THAT(refusalWith("n_head", 3, ErrorCode::BadInput), HasSubstr("divide"));
    EXPECT_THAT(refusalWith("num_hidden_layers", 3, ErrorCode::BadInput), HasSubstr("n_layer"));
}

TEST(HuggingFaceConfig, RefusesWhatIsNoJsonOrNestsDeep) {
    for (const std::string& text : {std::string(), std::string("{"), std::string("[1]"), std::string("NaN"), std::string(R"({"n_layer": NaN})"),
                                    "{\"a\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}"}) {
        const auto read = parseHuggingFaceConfig(text, "f");
        ASSERT_FALSE(read.ok()) << text.substr(0, 50);
        EXPECT_EQ(read.error().code, ErrorCode::Damaged);
        EXPECT_LT(read.error().sentence.size(), 300u);
    }
}

std::string indexRefusal(const std::string& text) {
    const auto read = parseShardIndex(text, "there/model.safetensors.index.json");
    EXPECT_FALSE(read.ok()) << text.substr(0, 100);
    if (read) return {};
    EXPECT_THAT(read.error().sentence, HasSubstr("there/model.safetensors.index.json"));
    return read.error().sentence;
}

TEST(ShardIndex, SaysInWhichFileEachTensorLies) {
    const std::map<std::string, std::string> fileOf{{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}};
    const auto read = parseShardIndex(shardIndex(fileOf, 12), "f");
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(*read, fileOf);
}

TEST(ShardIndex, RefusesFilesOutsideOfTheFolder) {
    for (const std::string file :
         {"../x.safetensors", "/etc/x.safetensors", "a/b.safetensors", "..", "", "x.bin", "a\\b.safetensors", "a\x01.safetensors"})
        EXPECT_THAT(indexRefusal(json{{"weight_map", {{"w", file}}}}.dump()), HasSubstr("same folder")) << file;
    const std::string withEnd("x\0y.safetensors", 15);
    EXPECT_THAT(indexRefusal(json{{"weight_map", {{"w", withEnd}}}}.dump()), HasSubstr("same folder"));
}

TEST(ShardIndex, RefusesWhatNamesNoFilesOrOneTensorTwice) {
    for (const char* text :
         {"", "[]", "{}", R"({"weight_map": []})", R"({"weight_map": {}})", R"({"weight_map": {"a": 3}})", R"({"weight_map": "a"})"})
        indexRefusal(text);
    EXPECT_THAT(indexRefusal(R"({"weight_map": {"a": "1.safetensors", "a": "2.safetensors"}})"), HasSubstr("twice"));
    EXPECT_TRUE(parseShardIndex(R"({"metadata": {"total_size": 8}, "weight_map": {"total_size": "1.safetensors"}})", "f").ok());
    indexRefusal("{\"weight_map\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}");
}

TEST(ShardIndex, FollowsLinksWithinTheFolderAndIntoTheHubsCacheAlone) {
    namespace fs = std::filesystem;
    const testing::TemporaryFolder folder;
    const std::string model = folder.path("models--x/snapshots/abc");
    folder.write("models--x/snapshots/abc/own.safetensors", "");
    folder.write("models--x/blobs/123", "");
    folder.write("elsewhere/other.safetensors", "");
    fs::create_symlink("own.safetensors", model + "/again.safetensors");
    fs::create_symlink("../../blobs/123", model + "/kept.safetensors");
    fs::create_symlink(folder.path("elsewhere/other.safetensors"), model + "/out.safetensors");
    fs::create_symlink("out.safetensors", model + "/by-way-of.safetensors");
    for (const char* inside : {"own.safetensors", "again.safetensors", "kept.safetensors", "not-there.safetensors"})
        EXPECT_TRUE(liesInFolder(model, inside)) << inside;
    for (const char* outside : {"out.safetensors", "by-way-of.safetensors"}) EXPECT_FALSE(liesInFolder(model, outside)) << outside;
}

std::string llmcHeaderOf(const std::map<int, std::int32_t>& changes = {}) {
    std::string header = llmcHeader({.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .positions = 12}, false);
    for (const auto& [place, value] : changes) std::memcpy(header.data() + 4 * place, &value, 4);
    return header;
}

constexpr std::int64_t kPaddedParameters = 128 * 16 + 12 * 16 + 2 * (12 * 16 * 16 + 13 * 16) + 2 * 16;

TEST(LlmcModel, FindsEachTensorInEveryVersion) {
    const std::int64_t plain = kPaddedParameters - (128 - 61) * 16;
    struct Version {
        std::int32_t number, padded;
        std::uint64_t bytes;
        bool bf16;
    };
    for (const Version& version :
         {Version{2, 0, 4 * static_cast<std::uint64_t>(plain), false}, Version{3, 0, 2 * static_cast<std::uint64_t>(plain), true},
          Version{3, 128, 4 * static_cast<std::uint64_t>(kPaddedParameters), false},
          Version{5, 128, 2 * static_cast<std::uint64_t>(kPaddedParameters), true}}) {
        const auto model = parseLlmcModel(llmcHeaderOf({{1, version.number}, {7, version.padded}}), kLlmcHeaderBytes + version.bytes, "f");
        ASSERT_TRUE(model.ok()) << model.error().sentence;
        EXPECT_EQ(model->bf16, version.bf16);
        EXPECT_EQ(model->sizes, (Gpt2Sizes{.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .positions = 12, .tiedHead = true}));
        EXPECT_EQ(model->tensors.size(), 4u + 2 * 12);
        EXPECT_EQ(model->tensors.at("wte.weight").begin, kLlmcHeaderBytes);
        EXPECT_EQ(model->tensors.at("wte.weight").shape, (std::vector<std::int64_t>{61, 16}));
        EXPECT_EQ(model->tensors.at("h.1.attn.c_attn.weight").shape, (std::vector<std::int64_t>{48, 16}));
        const std::uint64_t element = version.bf16 ? 2 : 4;
        EXPECT_EQ(model->tensors.at("h.1.ln_1.weight").begin, model->tensors.at("h.0.ln_1.weight").begin + 16 * element);
        EXPECT_EQ(model->tensors.at("ln_f.bias").end, kLlmcHeaderBytes + version.bytes);
    }
}

TEST(LlmcModel, RefusesSizesThatTheFileHasNotBeforeAnythingIsMadeOfThem) {
    constexpr std::uint64_t kBytes = kLlmcHeaderBytes + 4 * static_cast<std::uint64_t>(kPaddedParameters);
    ASSERT_TRUE(parseLlmcModel(llmcHeaderOf(), kBytes, "f").ok());
    const auto refusal = [&](const std::map<int, std::int32_t>& changes, std::uint64_t bytes, ErrorCode code) {
        const auto read = parseLlmcModel(llmcHeaderOf(changes), bytes, "there.bin");
        EXPECT_FALSE(read.ok());
        if (read) return std::string();
        EXPECT_EQ(read.error().code, code) << read.error().sentence;
        EXPECT_THAT(read.error().sentence, HasSubstr("there.bin"));
        return read.error().sentence;
    };
    EXPECT_THAT(refusal({}, kBytes - 4, ErrorCode::Damaged), HasSubstr(std::to_string(kBytes)));
    refusal({}, kBytes + 4, ErrorCode::Damaged);
    for (int place = 2; place <= 7; ++place)
        for (const std::int32_t wrong : {-1, 2'000'000'000, 1001}) refusal({{place, wrong}}, kBytes, ErrorCode::Damaged);
    for (int place = 2; place <= 6; ++place) refusal({{place, 0}}, kBytes, ErrorCode::Damaged);
    EXPECT_THAT(refusal({{5, 3}}, kBytes, ErrorCode::Damaged), HasSubstr("3 heads"));
    EXPECT_THAT(refusal({{1, 1}}, kBytes, ErrorCode::Unsupported), HasSubstr("version 1"));
    refusal({{1, 5}, {7, 0}}, kBytes, ErrorCode::Unsupported);
    refusal({{0, 20240520}}, kBytes, ErrorCode::Damaged);
    EXPECT_FALSE(parseLlmcModel("short", 5, "f").ok());
}

}  // namespace
}  // namespace stepscope
