// The configuration as sessions and checkpoints store it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/events/ConfigJson.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

TEST(ConfigJson, ReadsBackWhatItWroteForEveryPreset) {
    for (const auto& preset : presets()) {
        RunConfig config = preset.config;
        config.lr = 0.1 + 0.2;
        config.switches["amp"] = std::string("bf16");
        config.switches["grad-clip"] = 1.5;
        const auto back = configFromJson(configToJson(config));
        ASSERT_TRUE(back.ok()) << back.error().sentence;
        EXPECT_EQ(*back, config) << preset.id;
    }
}

TEST(ConfigJson, RefusesWhatIsNotAConfiguration) {
    for (const char* text : {"", "{", "[]", "17", "null", "\"text\""}) EXPECT_FALSE(configFromJson(text).ok()) << text;
}

TEST(ConfigJson, RefusesAValueOfTheWrongKindAndNamesTheKey) {
    nlohmann::json json = nlohmann::json::parse(configToJson({}));
    const std::string whole = json.dump();
    const auto at = whole.find("\"layers\":4");
    ASSERT_NE(at, std::string::npos) << whole;
    std::string wrong = whole;
    wrong.replace(at, 10, "\"layers\":\"four\"");
    const auto back = configFromJson(wrong);
    ASSERT_FALSE(back.ok());
    EXPECT_THAT(back.error().sentence, ::testing::HasSubstr("layers"));
}

// As a session or a checkpoint holds it, with one entry replaced.
std::string with(const std::string& key, const nlohmann::json& value) {
    nlohmann::json all = nlohmann::json::parse(configToJson({}));
    all[key] = value;
    return all.dump();
}

TEST(ConfigJson, RefusesEveryValueThatSetWouldRefuseAndNamesTheKey) {
    const std::vector<std::pair<std::string, nlohmann::json>> wrong{{"layers", -1},
                                                                    {"layers", 0},
                                                                    {"heads", 0},
                                                                    {"threads", 1'000'000'000},
                                                                    {"threads", 1e9},
                                                                    {"dropout", 5},
                                                                    {"lr", -1},
                                                                    {"lr", nullptr},
                                                                    {"norm", "batchnorm"},
                                                                    {"data", ""},
                                                                    {"steps", 18446744073709551615ULL},
                                                                    {"seed", {1, 2}},
                                                                    {"keep-best", "perhaps"}};
    for (const auto& [key, value] : wrong) {
        const auto read = configFromJson(with(key, value));
        ASSERT_FALSE(read.ok()) << key << " " << value;
        EXPECT_EQ(read.error().code, ErrorCode::Damaged);
        EXPECT_THAT(read.error().sentence, ::testing::HasSubstr(key));
    }
}

TEST(ConfigJson, RefusesBracketsThatNestDeeperThanAnyConfiguration) {
    std::string deep = "{\"layers\":";
    deep += std::string(60'000, '[') + std::string(60'000, ']') + "}";
    const auto read = configFromJson(deep);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().sentence, ::testing::HasSubstr("nest"));
}

TEST(ConfigJson, ReadsTheMicroBatchesOfAnOlderVersionAsTheTokensThatTheyHeld) {
    nlohmann::json old = nlohmann::json::parse(configToJson({}));
    old.erase("validation-tokens");
    old["validation-batches"] = 7;
    old["switches"] = {{"batch-size", 5}, {"context", 64}};
    const auto read = configFromJson(old.dump());
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    EXPECT_EQ(read->validationTokens, 7 * 5 * 64);
    old["validation-batches"] = "many";
    EXPECT_FALSE(configFromJson(old.dump()).ok());
}

}  // namespace
}  // namespace stepscope
