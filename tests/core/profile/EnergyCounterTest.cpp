// Energy counters in a made-up powercap folder.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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
    const EnergyCounter counter(folder);
    put("intel-rapl:0", "350000");
    put("intel-rapl:0:0", "900000");
    put("intel-rapl:1", "450000");
    ASSERT_TRUE(counter.joules());
    EXPECT_NEAR(*counter.joules(), 0.5, 1e-9);
}

TEST_F(Powercap, FollowsACounterThatWraps) {
    put("intel-rapl:0", "900000");
    const EnergyCounter counter(folder);
    put("intel-rapl:0", "100000");
    EXPECT_NEAR(counter.joules().value(), 0.2, 1e-9);
}

TEST_F(Powercap, IsUnknownWhereNothingOrOnlyAPartCanBeRead) {
    EXPECT_FALSE(EnergyCounter(folder + "/none").joules());
    EXPECT_FALSE(EnergyCounter(folder).joules());
    put("intel-rapl:0", "1");
    put("intel-rapl:1", "not a number");
    EXPECT_FALSE(EnergyCounter(folder).joules());
    put("intel-rapl:1", "1");
    const EnergyCounter counter(folder);
    std::filesystem::remove(folder + "/intel-rapl:1/energy_uj");
    EXPECT_FALSE(counter.joules());
}

}  // namespace
}  // namespace stepscope
