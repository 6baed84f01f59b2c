// The presets by themselves; which one is chosen for a machine is in tests/app/workbench.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>

#include "core/events/ConfigKeys.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

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

TEST(Presets, ShakespeareCharReadsShakespeareByItsCharacters) {
    const auto preset = presetConfig("shakespeare-char");
    ASSERT_TRUE(preset.ok());
    EXPECT_EQ(preset->data, "shakespeare");
    EXPECT_EQ(preset->tokenizer, "char");
}

struct Shape {
    const char* id;
    std::int64_t layers, heads, width, context, batch, accumulation;
};

void expectModel(const RunConfig& preset, const Shape& shape) {
    EXPECT_EQ(preset.layers, shape.layers) << shape.id;
    EXPECT_EQ(preset.heads, shape.heads) << shape.id;
    EXPECT_EQ(preset.width, shape.width) << shape.id;
    EXPECT_EQ(preset.integer("context"), shape.context) << shape.id;
}

TEST(Presets, HaveTheShapesOfTheListOfOptimisationsUpTo12Gb) {
    for (const Shape& shape : {Shape{"tiny-cpu", 4, 4, 128, 128, 12, 1},
                               {"shakespeare-char", 6, 6, 384, 256, 64, 1},
                               {"gpu-8gb", 8, 8, 512, 256, 64, 8},
                               {"gpu-12gb", 8, 8, 512, 256, 96, 8}}) {
        const auto preset = presetConfig(shape.id);
        ASSERT_TRUE(preset.ok()) << shape.id;
        expectModel(*preset, shape);
        EXPECT_EQ(preset->integer("batch-size"), shape.batch) << shape.id;
        EXPECT_EQ(preset->integer("grad-accumulation"), shape.accumulation) << shape.id;
    }
}

TEST(Presets, For16And24GbMakeTheListsUpdatesOfSmallerMicroBatchesThatFit) {
    for (const auto& [listed, batch, accumulation] :
         {std::tuple{Shape{"gpu-16gb", 12, 12, 768, 256, 128, 4}, 64, 8}, std::tuple{Shape{"gpu-24gb", 24, 16, 1024, 512, 256, 2}, 16, 32}}) {
        const auto preset = presetConfig(listed.id);
        ASSERT_TRUE(preset.ok()) << listed.id;
        expectModel(*preset, listed);
        EXPECT_EQ(preset->integer("batch-size"), batch) << listed.id;
        EXPECT_EQ(preset->integer("grad-accumulation"), accumulation) << listed.id;
        EXPECT_EQ(batch * accumulation, listed.batch * listed.accumulation) << listed.id;
    }
}

TEST(Presets, OfTheFourGpt2SizesHaveTheUpperEndOfTheirRangeOfRates) {
    for (const auto& [id, upper] : {std::pair{"gpt2-small", 6e-4}, {"gpt2-medium", 3e-4}, {"gpt2-large", 2e-4}, {"gpt2-xl", 1e-4}}) {
        const auto preset = presetConfig(id);
        ASSERT_TRUE(preset.ok()) << id;
        EXPECT_EQ(preset->lr, upper) << id;
        EXPECT_EQ(preset->minLr, upper / 10) << id;
    }
}

TEST(Presets, AnUnknownOneIsRefusedWithTheKnownNames) {
    const auto missing = presetConfig("nope");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().sentence,
                ::testing::AllOf(::testing::HasSubstr("nope"), ::testing::HasSubstr("tiny-cpu"), ::testing::HasSubstr("gpt2-xl")));
}

}  // namespace
}  // namespace stepscope
