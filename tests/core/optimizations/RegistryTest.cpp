// Every entry of the registry: words, values, verdicts, and that each usable value really trains. A new switch is tested the moment
// its line is added.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/events/SessionInfo.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

using testing::registry;

std::vector<std::pair<std::string, std::string>> everyValue() {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& entry : allSwitches()) {
        if (const auto* choices = std::get_if<Choices>(&entry.values))
            for (const auto& word : choices->words) all.emplace_back(entry.id, word);
        else
            all.emplace_back(entry.id, toString(entry.byDefault));
        if (const auto* range = std::get_if<IntegerRange>(&entry.values); range != nullptr && !range->word.empty())
            all.emplace_back(entry.id, range->word);
    }
    return all;
}

class EverySwitchValue : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(EverySwitchValue, EitherTrainsOrIsRefusedWithAReason) {
    const auto& [id, value] = GetParam();
    RunConfig config = testing::tinyConfig(registry(), 3);
    ASSERT_TRUE(setKey(config, registry().catalogue(config), id, value).ok());
    const auto complete = registry().complete(config);
    if (!complete) {
        EXPECT_NE(complete.error().sentence.find(id), std::string::npos);
        EXPECT_GT(complete.error().sentence.size(), 30u);
        return;
    }
    RunConfig small = *complete;
    small.switches["batch-size"] = std::int64_t{2};
    small.switches["context"] = std::int64_t{8};
    testing::TinyTrainer trainer(small);
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    for (const double loss : trainer.sink.losses()) EXPECT_TRUE(std::isfinite(loss));
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySwitchValue, ::testing::ValuesIn(everyValue()), [](const auto& info) {
    std::string name = info.param.first + "_" + info.param.second;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

TEST(Registry, EveryEntryHasItsWordsAndADefaultThatIsAllowed) {
    std::set<std::string> ids;
    for (const auto& entry : allSwitches()) {
        EXPECT_TRUE(ids.insert(entry.id).second) << entry.id << " is there twice";
        EXPECT_FALSE(entry.title.empty()) << entry.id;
        EXPECT_GT(entry.why.size(), 40u) << entry.id;
        EXPECT_FALSE(entry.cost.empty()) << entry.id;
        EXPECT_TRUE(parseValue(entry.values, entry.id, toString(entry.byDefault)).ok()) << entry.id;
        EXPECT_EQ(entry.takesEffect == TakesEffect::NewRun, !entry.whyNewRun.empty()) << entry.id;
        for (const auto& setting : configKeys()) EXPECT_NE(setting.id, entry.id) << "a key and a switch of one name";
    }
}

TEST(Registry, SaysPerChoiceWhyItCannotBeUsedHere) {
    const auto catalogue = registry().catalogue({});
    for (const auto& info : catalogue) {
        if (info.id == "device") {
            EXPECT_FALSE(info.applicable.usable);
            EXPECT_EQ(info.applicable.reason, "No NVIDIA driver is installed.");
        }
        if (info.id == "attention") {
            EXPECT_EQ(info.refusedChoices.size(), 2u);
        }
        if (info.id == "amp") {
            EXPECT_TRUE(info.applicable.usable && info.refusedChoices.empty());
        }
    }
}

TEST(Registry, RefusesWhatNeedsAGpuWithTheReason) {
    for (const auto& [id, reason] : {std::pair{"cuda-graph", "NVIDIA"}, std::pair{"cudnn-autotune", "NVIDIA"}}) {
        RunConfig config = testing::tinyConfig(registry());
        config.switches[id] = std::string("on");
        const auto complete = registry().complete(config);
        ASSERT_FALSE(complete.ok()) << id;
        EXPECT_NE(complete.error().sentence.find(reason), std::string::npos) << complete.error().sentence;
    }
}

// A machine with a GPU, of which only the verdicts are asked.
RunConfig onGpu(const std::vector<std::pair<std::string, std::string>>& values) {
    RunConfig config;
    config.switches["device"] = std::string("cuda:0");
    for (const auto& [id, value] : values) config.switches[id] = value;
    return config;
}
Machine withGpu() {
    Machine machine = testing::plainCpu();
    machine.gpus.push_back({.name = "a GPU", .memory = {80'000'000'000}, .computeMajor = 9, .computeMinor = 0});
    return machine;
}

TEST(Registry, FusedKernelsRunOnAGpuInEveryPrecisionButAttentionIsLibTorchs) {
    const Registry gpu(withGpu());
    for (const char* amp : {"off", "bf16", "fp16"}) EXPECT_TRUE(gpu.complete(onGpu({{"fusion", "kernels"}, {"amp", amp}})).ok()) << amp;
    const auto attention = gpu.complete(onGpu({{"fused-attention", "on"}}));
    ASSERT_FALSE(attention.ok());
    EXPECT_NE(attention.error().sentence.find("sdpa-flash"), std::string::npos) << attention.error().sentence;
}

TEST(Registry, OnAGpuNoFusedFormRunsUnlessItIsAskedForAndItsWordsSayWhereItWasTried) {
    const Registry gpu(withGpu());
    const RunConfig plain = gpu.complete(onGpu({})).value();
    int forms = 0;
    for (const auto& info : gpu.catalogue(plain)) {
        if (!info.id.starts_with("fused-")) continue;
        EXPECT_FALSE(fusedOn(plain, info.id)) << info.id;
        if (info.refusedChoices.empty()) forms += 1;
        EXPECT_EQ(info.cost.find("tried on one model of GPU so far, an H200") != std::string::npos, info.refusedChoices.empty()) << info.id;
    }
    EXPECT_EQ(forms, 6);
}

TEST(Registry, MomentsIn8BitsCanBeChosenOnAGpuAndTheirWordsSayWhereTheirKernelWasTried) {
    const Registry gpu(withGpu());
    const auto complete = gpu.complete(onGpu({{"optimizer", "8-bit"}, {"fusion", "kernels"}, {"amp", "bf16"}}));
    ASSERT_TRUE(complete.ok()) << complete.error().sentence;
    for (const auto& info : gpu.catalogue(*complete)) {
        if (info.id != "optimizer") continue;
        EXPECT_TRUE(info.refusedChoices.empty());
        EXPECT_NE(info.cost.find("was tried on one model so far, an H200"), std::string::npos) << info.cost;
    }
}

TEST(Registry, OnAGpuStepRunsAsKernelsInEveryPrecisionAndSaysSo) {
    const Registry gpu(withGpu());
    const std::string sentence = "fusion=step does not carry device=cuda:0: fusion=kernels is used.";
    for (const char* amp : {"off", "bf16", "fp16"}) {
        const auto complete = gpu.complete(onGpu({{"fusion", "step"}, {"amp", amp}}));
        ASSERT_TRUE(complete.ok()) << complete.error().sentence;
        EXPECT_EQ(complete->word("fusion"), "step") << "the choice stays as it was made";
        std::string why;
        EXPECT_EQ(gpu.running(*complete, &why).word("fusion"), "kernels");
        EXPECT_EQ(why, sentence);
        for (const auto& info : gpu.catalogue(*complete)) {
            EXPECT_EQ(info.fallback, info.id == "fusion" ? sentence : "") << info.id;
        }
    }
    EXPECT_TRUE(gpu.complete(onGpu({{"fusion", "step"}, {"fused-norm", "on"}})).ok()) << "kernels are what is switched singly";
    EXPECT_TRUE(gpu.complete(onGpu({{"fusion", "step"}, {"cuda-graph", "on"}})).ok()) << "kernels can be captured";
}

TEST(Registry, AForcedAttentionThatTheGpuOrTheShapeCannotRunIsRefusedBeforeTheRun) {
    struct Case {
        int computeMajor;
        const char *attention, *amp;
        std::int64_t width;   // of 4 heads
        const char* refused;  // part of the sentence; empty = usable
    };
    for (const Case& c : {Case{7, "sdpa-flash", "fp16", 256, "a GPU has 7.5"},
                          {7, "sdpa-cudnn", "fp16", 256, "a GPU has 7.5"},
                          {7, "sdpa-efficient", "fp16", 256, ""},
                          {7, "sdpa-efficient", "off", 12, ""},
                          {9, "sdpa-flash", "bf16", 256, ""},
                          {9, "sdpa-flash", "off", 256, "switch amp on"},
                          {9, "sdpa-cudnn", "off", 256, "switch amp on"},
                          {9, "sdpa-flash", "bf16", 4 * 136, "is 136"},
                          {9, "sdpa-cudnn", "fp16", 4 * 136, "is 136"},
                          {9, "sdpa-flash", "fp16", 4 * 12, "is 12"},
                          {9, "sdpa-efficient", "bf16", 4 * 12, "divide by 8"},
                          {9, "sdpa-efficient", "off", 4 * 12, ""},
                          {9, "sdpa-efficient", "off", 4 * 6, "divide by 4"},
                          {9, "sdpa-math", "off", 4 * 6, ""},
                          {9, "manual", "off", 4 * 6, ""}}) {
        Machine machine = withGpu();
        machine.gpus[0].computeMajor = c.computeMajor;
        machine.gpus[0].computeMinor = c.computeMajor == 7 ? 5 : 0;
        RunConfig config = onGpu({{"attention", c.attention}, {"amp", c.amp}});
        config.heads = 4;
        config.width = c.width;
        const auto complete = Registry(machine).complete(config);
        const std::string said = complete ? "" : complete.error().sentence;
        EXPECT_EQ(said.empty(), *c.refused == 0) << c.attention << ' ' << c.amp << ' ' << c.width << ": " << said;
        EXPECT_NE(said.find(c.refused), std::string::npos) << said;
    }
}

TEST(Registry, TheGpuThatIsAskedIsTheOneTheRunIsOn) {
    Machine two = withGpu();
    two.gpus.push_back({.name = "an old GPU", .memory = {8'000'000'000}, .computeMajor = 7, .computeMinor = 5});
    RunConfig config = onGpu({{"amp", "bf16"}});
    EXPECT_TRUE(Registry(two).complete(config).ok());
    config.switches["device"] = std::string("cuda:1");
    const auto complete = Registry(two).complete(config);
    ASSERT_FALSE(complete.ok());
    EXPECT_NE(complete.error().sentence.find("an old GPU"), std::string::npos) << complete.error().sentence;
}

TEST(Registry, ACudaGraphNeedsAStepThatNeverWaitsForTheGpu) {
    const Registry gpu(withGpu());
    EXPECT_TRUE(gpu.complete(onGpu({{"cuda-graph", "on"}, {"fusion", "kernels"}, {"amp", "bf16"}})).ok());
    for (const auto& [id, value, reason] :
         {std::tuple{"fusion", "off", "fusion=kernels"}, std::tuple{"amp", "fp16", "loss scaler"}, std::tuple{"chunked-loss", "64", "chunked-loss"},
          std::tuple{"optimizer", "loop", "optimizer=fused"}, std::tuple{"fused-optimizer", "off", "fused-optimizer"}}) {
        RunConfig config = onGpu({{"cuda-graph", "on"}, {"fusion", "kernels"}});
        ASSERT_TRUE(setKey(config, gpu.catalogue(config), id, value).ok()) << id;
        const auto complete = gpu.complete(config);
        ASSERT_FALSE(complete.ok()) << id;
        EXPECT_NE(complete.error().sentence.find(reason), std::string::npos) << complete.error().sentence;
    }
    RunConfig dropped = onGpu({{"cuda-graph", "on"}, {"fusion", "kernels"}});
    dropped.dropout = 0.1;
    EXPECT_FALSE(gpu.complete(dropped).ok());
}

TEST(Registry, OnlyACpuWithAmxRoundsFloat32ProductsToBf16) {
    RunConfig config;
    config.switches["matmul-precision"] = std::string("medium");
    EXPECT_TRUE(registry().complete(config).ok());
    Machine withoutAmx = testing::plainCpu();
    std::erase(withoutAmx.instructions, "amx_bf16");
    const auto complete = Registry(withoutAmx).complete(config);
    ASSERT_FALSE(complete.ok());
    EXPECT_NE(complete.error().sentence.find("only with AMX"), std::string::npos) << complete.error().sentence;
    EXPECT_NE(complete.error().sentence.find("amp=bf16"), std::string::npos);
}

TEST(Registry, CompletesEveryPresetForAPlainCpu) {
    for (const auto& preset : presets()) EXPECT_TRUE(registry().complete(preset.config).ok()) << preset.id;
}

TEST(Registry, PadsAsTheListOfOptimisationsSays) {
    RunConfig config = testing::tinyConfig(registry());
    for (const auto& [how, rows] :
         {std::pair{"none", 50257L}, std::pair{"64", 50304L}, std::pair{"128", 50304L}, std::pair{"power-of-two", 65536L}}) {
        config.switches["vocab-padding"] = std::string(how);
        EXPECT_EQ(registry().modelShape(config, 50257).paddedVocabulary, rows) << how;
    }
}

}  // namespace
}  // namespace stepscope
