// The presets, and which one is chosen for a machine.
#include "core/events/Presets.h"

#include "core/events/ConfigKeys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace stepscope {
namespace {

Machine withGpu(double gigabytes) {
    Machine machine;
    machine.gpus.push_back({.name = "Test GPU", .memory = {static_cast<std::int64_t>(gigabytes * 1e9)}});
    return machine;
}

TEST(Presets, AreAllValid) {
    for (const auto& preset : presets()) {
        const Status checked = checkConfig(preset.config);
        EXPECT_TRUE(checked.ok()) << preset.id << ": " << checked.error().sentence;
        EXPECT_EQ(preset.config.preset, preset.id);
        EXPECT_FALSE(preset.summary.empty());
        EXPECT_LT(preset.config.warmup, preset.config.steps) << preset.id;
        for (const char* id : {"batch-size", "context", "grad-accumulation"}) EXPECT_GE(preset.config.integer(id), 1) << preset.id;
    }
}

TEST(Presets, HaveDifferentNames) {
    std::set<std::string> ids;
    for (const auto& preset : presets()) EXPECT_TRUE(ids.insert(preset.id).second) << preset.id;
}

TEST(Presets, TinyCpuTrainsOnBytesInBatchesOf12WithAShortWarmUp) {
    const auto tiny = presetConfig("tiny-cpu");
    ASSERT_TRUE(tiny.ok());
    EXPECT_EQ(tiny->tokenizer, "byte");
    EXPECT_EQ(tiny->integer("batch-size"), 12);
    EXPECT_LE(tiny->warmup, 100);
}

TEST(Presets, AnUnknownOneIsRefusedWithTheKnownNames) {
    const auto missing = presetConfig("nope");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().sentence,
                ::testing::AllOf(::testing::HasSubstr("nope"), ::testing::HasSubstr("tiny-cpu"), ::testing::HasSubstr("gpt2-xl")));
}

TEST(ChoosePreset, TakesTheSmallestModelWithoutAGpuAndSaysWhy) {
    Machine machine;
    machine.cores = 2;
    const PresetChoice choice = choosePreset(machine);
    EXPECT_EQ(choice.id, "tiny-cpu");
    EXPECT_THAT(choice.why, ::testing::HasSubstr("2 CPU cores"));
}

TEST(ChoosePreset, ChoosesAPresetThatExistsForEveryGpuAndNamesTheGpu) {
    for (const double gigabytes : {2.0, 6.0, 8.0, 12.0, 16.0, 24.0, 80.0, 141.0}) {
        const PresetChoice choice = choosePreset(withGpu(gigabytes));
        EXPECT_TRUE(presetConfig(choice.id).ok()) << choice.id;
        EXPECT_THAT(choice.why, ::testing::HasSubstr("Test GPU")) << gigabytes;
    }
}

}  // namespace
}  // namespace stepscope
