// The sampler and the machine probe, on the real /proc of the machine that runs the test.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <mutex>

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
