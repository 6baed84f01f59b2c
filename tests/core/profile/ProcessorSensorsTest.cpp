// Clocks and temperatures of processors, in a made-up /sys.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/profile/ProcessorSensors.h"

namespace stepscope {
namespace {

class Sys : public testing::Test {
protected:
    Sys() : root(testing::TempDir() + "stepscope-sys") {
        std::filesystem::remove_all(root);
        std::filesystem::create_directories(root);
    }
    ~Sys() override { std::filesystem::remove_all(root); }
    void put(const std::string& file, const std::string& text) {
        const std::filesystem::path path = root + "/" + file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }
    void clock(int processor, const std::string& kilohertz) {
        put("devices/system/cpu/cpu" + std::to_string(processor) + "/cpufreq/scaling_cur_freq", kilohertz);
    }
    std::string root;
};

TEST_F(Sys, TellsTheMeanClockOfTheProcessorsThatMayBeUsedAndTheHottestSensorOfTheProcessor) {
    clock(0, "3000000");
    clock(1, "2000000");
    clock(2, "400000");  // not one that this process may use
    put("class/hwmon/hwmon0/name", "nvme");
    put("class/hwmon/hwmon0/temp1_input", "95000");
    put("class/hwmon/hwmon1/name", "coretemp");
    put("class/hwmon/hwmon1/temp1_input", "61000");
    put("class/hwmon/hwmon1/temp2_input", "72500");
    put("class/hwmon/hwmon1/temp3_input", "-128000");  // not connected
    put("class/hwmon/hwmon1/temp1_crit", "100000");
    const ProcessorSensors sensors({0, 1}, root);
    EXPECT_DOUBLE_EQ(sensors.read().mhz, 2500);
    EXPECT_DOUBLE_EQ(sensors.read().celsius, 72.5);
    clock(0, "1000000");
    EXPECT_DOUBLE_EQ(sensors.read().mhz, 1500) << "read anew each time";
}

TEST_F(Sys, AsksOfManyProcessorsOnlySome) {
    std::vector<int> processors;
    for (int i = 0; i < 64; ++i) {
        processors.push_back(i);
        clock(i, i % 8 == 0 ? "2000000" : "1");
    }
    EXPECT_DOUBLE_EQ(ProcessorSensors(processors, root).read().mhz, 2000);
}

TEST_F(Sys, IsUnknownWhereNothingIsToldAndWhereItIsNoNumber) {
    EXPECT_TRUE(std::isnan(ProcessorSensors({0, 1}, root).read().mhz));
    EXPECT_TRUE(std::isnan(ProcessorSensors({}, root).read().celsius));
    clock(0, "unknown");
    put("class/hwmon/hwmon0/name", "k10temp");
    put("class/hwmon/hwmon0/temp1_input", "broken");
    const ProcessorState state = ProcessorSensors({0}, root).read();
    EXPECT_TRUE(std::isnan(state.mhz));
    EXPECT_TRUE(std::isnan(state.celsius));
}

}  // namespace
}  // namespace stepscope
