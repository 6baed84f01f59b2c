// The presets by memory hold what their names say, and the one chosen for a machine fits it, on its GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "app/workbench/PresetChoice.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

Machine withGpu(double gigabytes, int computeMajor = 9) {
    Machine machine;
    machine.cores = 2;
    machine.gpus.push_back(
        {.name = "Test GPU", .memory = {static_cast<std::int64_t>(gigabytes * 1e9)}, .computeMajor = computeMajor, .computeMinor = 0});
    return machine;
}

double predictedGigabytes(const Machine& machine, const std::string& preset) {
    const auto workbench = Workbench::create(machine);
    RunConfig config = presetConfig(preset).value();
    config.switches["device"] = std::string("cuda:0");
    const auto complete = workbench->complete(config);
    EXPECT_TRUE(complete.ok()) << preset << ": " << complete.error().sentence;
    return complete ? workbench->estimate(*complete).total.gigabytes() : 0;
}

TEST(PresetsByMemory, FitWithATenthToSpareIntoWhatTheirNamesSay) {
    for (const auto& [id, gigabytes] : {std::pair{"gpu-8gb", 8.0}, {"gpu-12gb", 12.0}, {"gpu-16gb", 16.0}, {"gpu-24gb", 24.0}}) {
        const double predicted = predictedGigabytes(withGpu(gigabytes), id);
        RecordProperty(id, std::to_string(predicted));
        EXPECT_GT(predicted, 0.3 * gigabytes) << id;
        EXPECT_LT(predicted, 0.9 * gigabytes) << id;
    }
}

TEST(ChoosePreset, TakesTheSmallestModelWithoutAGpuAndSaysWhy) {
    Machine machine;
    machine.cores = 2;
    const PresetChoice choice = choosePreset(*Workbench::create(machine));
    EXPECT_EQ(choice.id, "tiny-cpu");
    EXPECT_EQ(choice.device, "cpu");
    EXPECT_THAT(choice.why, HasSubstr("2 CPU cores"));
}

TEST(ChoosePreset, TakesTheLargestThatTheGpuHoldsOnThatGpuAndNamesIt) {
    for (const auto& [gigabytes, id] :
         std::map<double, std::string>{{0.05, "tiny-cpu"}, {8.6, "gpu-8gb"}, {17.1, "gpu-16gb"}, {25.8, "gpu-24gb"}, {141, "gpu-24gb"}}) {
        const PresetChoice choice = choosePreset(*Workbench::create(withGpu(gigabytes)));
        EXPECT_EQ(choice.id, id) << gigabytes;
        EXPECT_EQ(choice.device, "cuda:0");
        EXPECT_THAT(choice.why, HasSubstr("Test GPU")) << gigabytes;
    }
}

TEST(ChoosePreset, PassesOverThePresetsWhosePrecisionAnOldGpuDoesNotHave) {
    const PresetChoice choice = choosePreset(*Workbench::create(withGpu(16, 7)));
    EXPECT_EQ(choice.id, "shakespeare-char");
    EXPECT_EQ(choice.device, "cuda:0");
}

TEST(APresetNamedByAPerson, IsOnTheGpuThatThereIsButTinyCpu) {
    const auto with = Workbench::create(withGpu(24)), without = Workbench::create(Machine{.cores = 2});
    EXPECT_EQ(presetHere(*with, "gpu-8gb")->word("device"), "cuda:0");
    EXPECT_EQ(presetHere(*with, "gpt2-small")->word("device"), "cuda:0");
    EXPECT_FALSE(presetHere(*with, "tiny-cpu")->has("device"));
    EXPECT_FALSE(presetHere(*without, "gpu-8gb")->has("device")) << "the default: the CPU";
    EXPECT_FALSE(presetHere(*with, "nope").ok());
}

}  // namespace
}  // namespace stepscope
