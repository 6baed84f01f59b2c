// Every key by its plain name: what is taken, what is refused and with which sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/events/ConfigKeys.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

SwitchCatalogue catalogue() {
    SwitchInfo amp, batch;
    amp.id = "amp";
    amp.values = Choices{{"off", "bf16"}};
    batch.id = "batch-size";
    batch.values = IntegerRange{1, 4096};
    SwitchInfo clip;
    clip.id = "grad-clip";
    clip.values = RealRange{0, 100, "off"};
    SwitchInfo validation;
    validation.id = "validation-every";
    validation.values = IntegerRange{0, 1000, "epoch"};
    SwitchInfo chunks;
    chunks.id = "chunked-loss";
    chunks.values = IntegerRange{0, 1'000'000, {}, "off"};
    return {amp, batch, clip, validation, chunks};
}

void expectRefused(const std::string& key, const std::string& text, const std::string& hint) {
    RunConfig config;
    const RunConfig before = config;
    const Status set = setKey(config, catalogue(), key, text);
    ASSERT_FALSE(set.ok()) << key << "=" << text;
    EXPECT_EQ(set.error().code, ErrorCode::BadInput);
    EXPECT_THAT(set.error().sentence, HasSubstr(key));
    EXPECT_THAT(set.error().sentence, HasSubstr(hint));
    EXPECT_EQ(config, before) << "a refused value must change nothing";
}

TEST(ConfigKeys, TakesTheWordOfASwitchInPlaceOfItsNumber) {
    RunConfig config;
    ASSERT_TRUE(setKey(config, catalogue(), "validation-every", "epoch").ok());
    EXPECT_EQ(config.switches.at("validation-every"), Value{std::string("epoch")});
    ASSERT_TRUE(setKey(config, catalogue(), "validation-every", "20").ok());
    EXPECT_EQ(config.integer("validation-every"), 20);
    expectRefused("validation-every", "week", "0 to 1000, or epoch");
    expectRefused("batch-size", "epoch", "1 to 4096");
}

TEST(ConfigKeys, OffIsAnotherWordForZeroWhereThatSwitchesSomethingOff) {
    RunConfig config;
    ASSERT_TRUE(setKey(config, catalogue(), "chunked-loss", "off").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "grad-clip", "off").ok());
    EXPECT_EQ(config.switches.at("chunked-loss"), Value{std::int64_t{0}}) << "one value has one form in what is stored";
    EXPECT_EQ(config.switches.at("grad-clip"), Value{0.0});
    expectRefused("chunked-loss", "on", "0 to 1000000, or off");
    expectRefused("grad-clip", "on", "0 to 100, or off");
    expectRefused("validation-every", "off", "or epoch");
    expectRefused("batch-size", "off", "1 to 4096");
}

TEST(ConfigKeys, SetsEveryKindOfKey) {
    RunConfig config;
    ASSERT_TRUE(setKey(config, catalogue(), "layers", "12").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "lr", "3e-4").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "tokenizer", "gpt2").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "data", "a folder/with blanks").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "amp", "bf16").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "batch-size", "64").ok());
    ASSERT_TRUE(setKey(config, catalogue(), "grad-clip", "1").ok());
    EXPECT_EQ(config.layers, 12);
    EXPECT_DOUBLE_EQ(config.lr, 3e-4);
    EXPECT_EQ(config.tokenizer, "gpt2");
    EXPECT_EQ(config.data, "a folder/with blanks");
    EXPECT_EQ(config.word("amp"), "bf16");
    EXPECT_EQ(config.integer("batch-size"), 64);
    EXPECT_DOUBLE_EQ(config.real("grad-clip"), 1.0);
}

TEST(ConfigKeys, RefusesWhatIsNoWholeNumber) {
    for (const char* text : {"", "twelve", "12.5", "12x", " 12", "0x10", "1e3", "99999999999999999999"})
        expectRefused("layers", text, "whole number");
}

TEST(ConfigKeys, RefusesNumbersOutOfRange) {
    expectRefused("width", "-4", "from 1");
    expectRefused("steps", "0", "from 1");
    expectRefused("steps", "-5", "from 1");
    expectRefused("validation-fraction", "0.6", "0.5");
    expectRefused("validation-fraction", "-0.1", "0.5");
    expectRefused("batch-size", "100000000", "4096");
}

TEST(ConfigKeys, RefusesWhatIsNoNumber) {
    for (const char* text : {"", "fast", "1e-3x", "nan", "inf", "-inf", "1e999"}) expectRefused("lr", text, "a number");
}

TEST(ConfigKeys, RefusesUnknownWordsAndNamesTheKnownOnes) {
    expectRefused("tokenizer", "words", "byte, char, gpt2");
    expectRefused("amp", "fp7", "off, bf16");
    expectRefused("schedule", "", "warmup-cosine");
    expectRefused("data", "", "path");
}

TEST(ConfigKeys, RefusesAnUnknownKeyAndNamesTheKnownOnes) {
    expectRefused("no-such", "1", "layers");
    expectRefused("no-such", "1", "grad-clip");
}

TEST(ConfigKeys, HasNoKeyTwice) {
    std::vector<std::string> ids;
    for (const auto& key : configKeys()) ids.push_back(key.id);
    std::ranges::sort(ids);
    EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(ConfigKeys, EveryKeyHasATitleAHelpAndASectionThatIsShown) {
    for (const auto& key : configKeys()) {
        EXPECT_FALSE(key.title.empty()) << key.id;
        EXPECT_FALSE(key.help.empty()) << key.id;
        EXPECT_THAT(key.section, ::testing::AnyOf("data", "model", "schedule", "loop")) << key.id;
    }
}

TEST(ConfigKeys, TheDefaultsObeyTheirOwnRules) {
    const RunConfig defaults;
    for (const auto& key : configKeys()) {
        const auto parsed = parseValue(key.values, key.id, toString(key.get(defaults)));
        ASSERT_TRUE(parsed.ok()) << key.id << ": " << parsed.error().sentence;
        EXPECT_EQ(*parsed, key.get(defaults)) << key.id;
    }
}

TEST(CheckConfig, NamesTheKeyToChange) {
    RunConfig config;
    config.heads = 3;
    Status checked = checkConfig(config);
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().sentence, HasSubstr("heads 3"));
}

TEST(CheckConfig, ARangeTestNeedsTwoRatesToSweepBetween) {
    RunConfig config;
    config.schedule = "range-test";
    config.minLr = 0;
    Status checked = checkConfig(config);
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().sentence, HasSubstr("min-lr"));
    config.minLr = 1e-6;
    EXPECT_TRUE(checkConfig(config).ok());
}

TEST(CheckConfig, KeepingZerosNeedsAnEpsilon) {
    RunConfig config;
    config.keepZeros = "on";
    EXPECT_TRUE(checkConfig(config).ok());
    config.epsilon = 0;
    const Status checked = checkConfig(config);
    ASSERT_FALSE(checked.ok());
    EXPECT_NE(checked.error().sentence.find("keep-zeros"), std::string::npos);
}

TEST(ListConfig, SettingWhatItListsGivesTheSameConfigurationForEveryPreset) {
    SwitchCatalogue known = catalogue();
    for (const char* id : {"context", "grad-accumulation", "chunked-loss"}) {
        known.emplace_back().id = id;
        known.back().values = IntegerRange{1, 1'000'000};
    }
    for (const auto& preset : presets()) {
        RunConfig rebuilt;
        for (const auto& [key, text] : listConfig(preset.config)) {
            if (key == "preset") {
                rebuilt.preset = text;
                continue;
            }
            const Status set = setKey(rebuilt, known, key, text);
            ASSERT_TRUE(set.ok()) << preset.id << ": " << set.error().sentence;
        }
        EXPECT_EQ(rebuilt, preset.config) << preset.id;
    }
}

TEST(ListConfig, WritesRealNumbersSoThatTheyComeBackExactly) {
    RunConfig config;
    config.lr = 0.1 + 0.2;
    config.epsilon = 1e-8 / 3;
    RunConfig rebuilt;
    for (const auto& [key, text] : listConfig(config)) {
        if (key == "preset") continue;
        ASSERT_TRUE(setKey(rebuilt, {}, key, text).ok()) << key;
    }
    EXPECT_EQ(rebuilt, config);
}

TEST(RunConfigSwitches, AreReadByKindAndAMissingOneIsOurBug) {
    RunConfig config;
    config.switches["context"] = std::int64_t{128};
    config.switches["amp"] = std::string("off");
    EXPECT_EQ(config.integer("context"), 128);
    EXPECT_DOUBLE_EQ(config.real("context"), 128.0);
    EXPECT_TRUE(config.has("amp"));
    EXPECT_FALSE(config.has("loss"));
    EXPECT_ANY_THROW((void)config.word("context"));
    EXPECT_ANY_THROW((void)config.integer("missing"));
}

TEST(ConfigKeys, ARefusalRepeatsTheBeginningOfWhatIsTooLongForASentence) {
    RunConfig config;
    const std::string value = std::string(199, 'x') + "\u00e9" + std::string(1'000'000, 'y');
    const auto refused = setKey(config, {}, "layers", value);
    EXPECT_EQ(refused.error().sentence, "layers cannot be \"" + std::string(199, 'x') + "...\"; it takes a whole number from 1 to 1000.");
    EXPECT_LT(setKey(config, {}, value, "1").error().sentence.size(), 3000u);
}

}  // namespace
}  // namespace stepscope
