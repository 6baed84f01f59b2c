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

}  // namespace
}  // namespace stepscope
