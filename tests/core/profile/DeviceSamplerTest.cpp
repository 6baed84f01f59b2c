// The sampler and the machine probe, on the real /proc of the machine that runs the test.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/events/Event.h"
#include "core/profile/DeviceSampler.h"
#include "core/profile/MachineProbe.h"

namespace stepscope {
namespace {

class Samples final : public EventSink {
public:
    void publish(Event event) override {
        std::lock_guard lock(mutex);
        if (const auto* sample = std::get_if<DeviceSample>(&event)) all.push_back(*sample);
    }
    std::mutex mutex;
    std::vector<DeviceSample> all;
};

TEST(DeviceSampler, SeesABusyThreadAsShareOfTheCores) {
    Samples samples;
    const SessionClock clock;
    {
        const DeviceSampler sampler(samples, clock, 1);
        volatile double sink = 0;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1300);
        while (std::chrono::steady_clock::now() < end) sink = sink + 1;
    }
    ASSERT_GE(samples.all.size(), 2u);
    EXPECT_GT(samples.all.back().cpuPct, 20) << "the machine may be shared, but a spinning thread is not idle";
    EXPECT_GT(samples.all.back().residentBytes, 1'000'000);
    const auto& last = samples.all.back();
    if (!std::isnan(last.stealPct)) {  // some sandboxes count nothing
        EXPECT_GE(last.othersPct, 0);
        EXPECT_LE(last.othersPct + last.stealPct, 100);
    }
    EXPECT_TRUE(std::isnan(samples.all.back().gpuPct)) << "nothing is made up where there is no GPU";
}

TEST(DeviceSampler, TellsWhatTheProcessorsUseWhereTheSystemTells) {
    const std::string folder = testing::TempDir() + "stepscope-sampled-powercap", zone = folder + "/intel-rapl:0";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(zone);
    std::ofstream(zone + "/max_energy_range_uj") << 1'000'000'000'000;
    std::int64_t microjoules = 5'000'000;
    const auto used = [&] {  // never seen half written
        std::ofstream(zone + "/new") << microjoules;
        std::filesystem::rename(zone + "/new", zone + "/energy_uj");
    };
    used();
    Samples samples;
    const SessionClock clock;
    {
        const DeviceSampler sampler(samples, clock, 1, {}, folder);
        const auto taken = [&] {
            const std::lock_guard lock(samples.mutex);
            return samples.all.size();
        };
        for (int i = 0; i < 2000 && taken() < 3; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            microjoules += 250'000;
            used();
        }
    }
    std::filesystem::remove_all(folder);
    ASSERT_GE(samples.all.size(), 3u);
    EXPECT_GT(samples.all.back().cpuEnergyJ, 0);
    EXPECT_LE(samples.all.back().cpuEnergyJ, static_cast<double>(microjoules - 5'000'000) / 1e6);
    for (std::size_t i = 1; i < samples.all.size(); ++i) {
        const DeviceSample &before = samples.all[i - 1], &now = samples.all[i];
        EXPECT_NEAR(now.cpuPowerW * (now.at - before.at).seconds(), now.cpuEnergyJ - before.cpuEnergyJ, 1e-6);
    }
    Samples none;
    {
        const DeviceSampler sampler(none, clock, 1, {}, folder);
        for (int i = 0; i < 2000; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            const std::lock_guard lock(none.mutex);
            if (!none.all.empty()) break;
        }
    }
    ASSERT_FALSE(none.all.empty());
    EXPECT_TRUE(std::isnan(none.all.back().cpuPowerW)) << "nothing is made up where nothing tells";
    EXPECT_TRUE(std::isnan(none.all.back().cpuEnergyJ));
}

TEST(DeviceSampler, StopsAtOnceWhenItIsDestroyed) {
    Samples samples;
    const SessionClock clock;
    const auto begin = std::chrono::steady_clock::now();
    { const DeviceSampler sampler(samples, clock, 1); }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

TEST(MachineProbe, KnowsThisMachine) {
    const Machine machine = probeMachine();
    EXPECT_GE(machine.cores, 1);
    EXPECT_GT(machine.memory.count, 100'000'000);
    EXPECT_NE(machine.system.find("Linux"), std::string::npos);
    EXPECT_EQ(machine.libtorch.substr(0, 2), "2.");
    EXPECT_FALSE(machine.cpu.empty());
}

}  // namespace
}  // namespace stepscope
