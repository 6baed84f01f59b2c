// Energy counters in a made-up powercap folder.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include "core/profile/EnergyCounter.h"

namespace stepscope {
namespace {

class Powercap : public testing::Test {
protected:
    Powercap() : folder(testing::TempDir() + "stepscope-powercap") {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    ~Powercap() override { std::filesystem::remove_all(folder); }
    void put(const std::string& package, const std::string& energy, const std::string& range = "1000000") {
        std::filesystem::create_directories(folder + "/" + package);
        std::ofstream(folder + "/" + package + "/energy_uj") << energy;
        std::ofstream(folder + "/" + package + "/max_energy_range_uj") << range;
    }
    std::string folder;
};

TEST_F(Powercap, SumsPackagesAndLeavesTheirPartsOut) {
    put("intel-rapl:0", "100000");
    put("intel-rapl:0:0", "5");
    put("intel-rapl:1", "200000");
    const EnergyCounter counter({}, folder);
    put("intel-rapl:0", "350000");
    put("intel-rapl:0:0", "900000");
    put("intel-rapl:1", "450000");
    const auto used = counter.read().joules();
    ASSERT_TRUE(used);
    EXPECT_NEAR(*used, 0.5, 1e-9);
}

TEST_F(Powercap, CountsNoPackageTwice) {
    put("intel-rapl:0", "100000");
    put("intel-rapl-mmio:0", "100000");
    put("intel-rapl:1", "100000");
    std::ofstream(folder + "/intel-rapl:0/name") << "package-0\n";
    std::ofstream(folder + "/intel-rapl:1/name") << "psys\n";
    const EnergyCounter counter({}, folder);
    for (const char* zone : {"intel-rapl:0", "intel-rapl-mmio:0", "intel-rapl:1"}) put(zone, "600000");
    EXPECT_NEAR(counter.read().joules().value(), 0.5, 1e-9) << "not through another door, and not as a part of the whole platform";
}

TEST_F(Powercap, SaysWhyProcessorsDoNotTellAndWhatToDo) {
    const auto nobody = [](const std::string&) { return false; };
    const auto everybody = [](const std::string&) { return true; };
    EXPECT_THAT(whyNoProcessorEnergy(folder + "/none", everybody), testing::HasSubstr("exposes no energy counters"));
    EXPECT_THAT(whyNoProcessorEnergy(folder, everybody), testing::HasSubstr("exposes no energy counters"));
    put("intel-rapl:0", "1");
    EXPECT_EQ(whyNoProcessorEnergy(folder, everybody), "");
    EXPECT_EQ(whyNoProcessorEnergy(folder, nobody),
              "This user may not read the energy counters of the processors (RAPL), as on most systems; until the next start \"sudo chmod a+r " +
                  folder + "/intel-rapl:*/energy_uj\" lets everybody.");
    put("intel-rapl:0", "much");
    EXPECT_THAT(whyNoProcessorEnergy(folder, everybody), testing::HasSubstr("tell no number: " + folder + "/intel-rapl:0/energy_uj"));
    std::filesystem::remove(folder + "/intel-rapl:0/energy_uj");
    EXPECT_THAT(whyNoProcessorEnergy(folder, nobody), testing::HasSubstr("tell no number")) << "what is not there is not forbidden";
    EXPECT_TRUE(mayRead(folder));
    EXPECT_FALSE(mayRead(folder + "/none"));
}

TEST_F(Powercap, FollowsACounterThatWraps) {
    put("intel-rapl:0", "900000");
    const EnergyCounter counter({}, folder);
    put("intel-rapl:0", "100000");
    EXPECT_NEAR(counter.read().joules().value(), 0.2, 1e-9);
}

TEST_F(Powercap, IsUnknownWhereNothingOrOnlyAPartCanBeRead) {
    EXPECT_FALSE(EnergyCounter({}, folder + "/none").read().joules());
    EXPECT_FALSE(EnergyCounter({}, folder).read().joules());
    put("intel-rapl:0", "1");
    put("intel-rapl:1", "not a number");
    EXPECT_FALSE(EnergyCounter({}, folder).read().joules());
    put("intel-rapl:1", "1");
    const EnergyCounter counter({}, folder);
    std::filesystem::remove(folder + "/intel-rapl:1/energy_uj");
    EXPECT_FALSE(counter.read().joules());
}

TEST_F(Powercap, WithAGpuIsTheSumOfBothAndUnknownWhereTheGpuDoesNotTell) {
    put("intel-rapl:0", "100000");
    double driver = 1000;  // joules since the driver was loaded
    const EnergyCounter::Gpu gpu = [&driver]() -> std::optional<double> { return driver; };
    const EnergyCounter::Gpu silent = []() -> std::optional<double> { return std::nullopt; };
    const EnergyCounter both({gpu}, folder), alone({gpu}, folder + "/none"), withSilent({gpu, silent}, folder);
    put("intel-rapl:0", "350000");
    driver = 1012;
    EXPECT_NEAR(both.read().joules().value(), 12.25, 1e-9);
    EXPECT_NEAR(alone.read().joules().value(), 12, 1e-9) << "most machines let root alone read that of the processors";
    EXPECT_FALSE(withSilent.read().joules()) << "the processors' energy is not that of a step on a GPU";
}

TEST_F(Powercap, DoesNotWaitForAGpusAnswerWhenItIsAsked) {
    std::promise<double> answer;
    const auto told = answer.get_future().share();
    std::atomic<int> asked{0};
    const EnergyCounter counter({[&]() -> std::optional<double> { return asked++ == 0 ? 5 : told.get(); }}, folder);
    const EnergyReading reading = counter.read();  // would never come back
    answer.set_value(7.5);
    EXPECT_NEAR(reading.joules().value(), 2.5, 1e-9);
    EXPECT_NEAR(reading.joules().value(), 2.5, 1e-9) << "asked again";
}

}  // namespace
}  // namespace stepscope
