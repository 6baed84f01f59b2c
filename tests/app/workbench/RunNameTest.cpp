// What a run is called when nobody names it: by how it differs from its preset, and that at the front, where lists do not cut it off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "TinyTraining.h"
#include "app/workbench/RunName.h"
#include "core/events/Presets.h"
#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct NameOfARun : ::testing::Test {
    const Registry registry{testing::plainCpu()};
    const RunConfig plain = registry.complete(presetConfig("tiny-cpu").value()).value();
    std::string name(void (*change)(RunConfig&)) const {
        RunConfig config = plain;
        change(config);
        return nameFor(config, registry);
    }
};

TEST_F(NameOfARun, BeginsWithWhatDiffersAndEndsWithThePreset) {
    const std::string preset = nameFor(plain, registry);
    EXPECT_EQ(preset.find("·"), std::string::npos) << preset;
    const std::string amp = name([](RunConfig& c) { c.switches["amp"] = std::string("bf16"); });
    EXPECT_EQ(amp, "amp bf16 · " + preset);
    EXPECT_EQ(name([](RunConfig& c) { c.layers = 3; }), "layers 3 · " + preset);
}

TEST_F(NameOfARun, AloneSaysNothingOfLengthSeedAndThreads) {
    EXPECT_EQ(name([](RunConfig& c) { c.steps = 17, c.seed = 5, c.threads = 1; }), nameFor(plain, registry));
}

TEST_F(NameOfARun, NamesThemWhereTheListHasTheSameNameWithOthersAlready) {
    const struct Folder {
        std::filesystem::path place = std::filesystem::temp_directory_path() / ("stepscope-names-" + std::to_string(::getpid()));
        Folder() { std::filesystem::create_directories(place); }
        ~Folder() { std::filesystem::remove_all(place); }
    } folder;
    const std::string path = folder.place / "s.db", name = nameFor(plain, registry);
    const auto asked = [&](std::int64_t seed, std::int64_t steps) {
        RunConfig config = plain;
        config.seed = seed, config.steps = steps;
        return config;
    };
    EXPECT_EQ(toldApart(name, asked(1, 100), path), name) << "there is no database yet";
    const auto record = [&](const RunConfig& config) {
        SessionInfo info;
        info.name = toldApart(name, config, path);
        info.config = config;
        auto recorder = Recorder::open({.path = path}, info);
        ASSERT_TRUE(recorder && (*recorder)->finish());
    };
    record(asked(1, 100));
    EXPECT_EQ(toldApart(name, asked(1, 100), path), name) << "the same once more";
    EXPECT_EQ(toldApart(name, asked(2, 100), path), "seed 2 · " + name);
    record(asked(2, 100));
    EXPECT_EQ(toldApart(name, asked(3, 100), path), "seed 3 · " + name) << "held against the run of the plain name";
    EXPECT_THAT(toldApart(name, asked(3, 50), path), ::testing::AllOf(HasSubstr("seed 3 · "), HasSubstr("steps 50 · "), EndsWith(name)));
    EXPECT_EQ(toldApart("amp bf16 · " + name, asked(9, 9), path), "amp bf16 · " + name) << "no run has that name";
    ASSERT_TRUE(deleteSession(path, 1));
    EXPECT_EQ(toldApart(name, asked(3, 100), path), name) << "what was deleted is in no list";
}

TEST_F(NameOfARun, OnAnotherTextNamesTheFileAndNoTitleThatNamesTheUsualOne) {
    const std::string other = name([](RunConfig& c) { c.data = "/srv/texts/essays.txt"; });
    EXPECT_THAT(other, StartsWith("data essays.txt · "));
    EXPECT_THAT(other, EndsWith("tiny-cpu"));
    EXPECT_THAT(other, Not(HasSubstr("/srv")));
}

TEST_F(NameOfARun, BeginsWithTheSwitchBesideDataAndAModelOfAPersonsOwn) {
    const auto own = [&](const char* precision, std::int64_t batch) {
        RunConfig config = plain;
        config.data = "/srv/texts/essays.txt";
        config.layers = 1, config.heads = 2, config.width = 16;
        config.switches["amp"] = std::string(precision);
        config.switches["batch-size"] = batch;
        return nameFor(config, registry);
    };
    constexpr std::size_t kSeen = 30;  // of a narrow list
    EXPECT_NE(own("off", 3).substr(0, kSeen), own("bf16", 3).substr(0, kSeen)) << own("bf16", 3);
    EXPECT_NE(own("bf16", 3).substr(0, kSeen), own("bf16", 4).substr(0, kSeen)) << own("bf16", 4);
    EXPECT_THAT(own("bf16", 3), HasSubstr("data essays.txt · "));
}

TEST_F(NameOfARun, NamesFourDifferencesAndCountsTheRest) {
    const std::string many = name([](RunConfig& c) { c.layers = 3, c.width = 64, c.heads = 2, c.dropout = 0.1, c.bias = "off", c.lr = 1e-3; });
    EXPECT_THAT(many, HasSubstr(" · 2 more · "));
    std::size_t parts = 0;
    for (std::size_t at = many.find("·"); at != std::string::npos; at = many.find("·", at + 1)) ++parts;
    EXPECT_EQ(parts, 5u) << many;
}

}  // namespace
}  // namespace stepscope
