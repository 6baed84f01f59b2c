// DeviceSampler: a thread that reads how busy the machine is every 500 ms and publishes DeviceSample. This process's CPU time
// against the cores that it may use, that of others on them from /proc/stat, memory from /proc, clock, temperature and energy from /sys; a GPU's
// numbers come from a function the CUDA plug-in gives.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "core/profile/EnergyCounter.h"

namespace stepscope {

class DeviceSampler {
public:
    // fillGpu adds a GPU's numbers to a sample; empty where there is none. sink and clock outlive the sampler. powercap: another folder in tests.
    DeviceSampler(EventSink& sink, const SessionClock& clock, int cores, std::function<void(DeviceSample&)> fillGpu = {},
                  const std::string& powercap = "/sys/class/powercap");
    ~DeviceSampler();
    DeviceSampler(const DeviceSampler&) = delete;
    DeviceSampler& operator=(const DeviceSampler&) = delete;

private:
    void sample(const std::stop_token& stop);

    EventSink& m_sink;
    const SessionClock& m_clock;
    int m_cores;
    std::function<void(DeviceSample&)> m_fillGpu;
    EnergyCounter m_energy;  // of the processors; the thread's
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread;  // last: it uses everything above
};

}  // namespace stepscope
