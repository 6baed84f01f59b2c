// DeviceSampler: a thread that reads how busy the machine is every 500 ms and publishes DeviceSample. This process's CPU time
// against the cores that it may use, that of others on them from /proc/stat, memory from /proc, clock and temperature from /sys; a GPU's numbers come
// from a function the CUDA plug-in gives.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"

namespace stepscope {

class DeviceSampler {
public:
    // fillGpu adds a GPU's numbers to a sample; empty where there is none. sink and clock outlive the sampler.
    DeviceSampler(EventSink& sink, const SessionClock& clock, int cores, std::function<void(DeviceSample&)> fillGpu = {});
    ~DeviceSampler();
    DeviceSampler(const DeviceSampler&) = delete;
    DeviceSampler& operator=(const DeviceSampler&) = delete;

private:
    void sample(std::stop_token stop);

    EventSink& m_sink;
    const SessionClock& m_clock;
    int m_cores;
    std::function<void(DeviceSample&)> m_fillGpu;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::jthread m_thread;  // last: it uses everything above
};

}  // namespace stepscope
