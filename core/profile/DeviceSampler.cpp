#include "core/profile/DeviceSampler.h"

#include <sys/resource.h>

#include <chrono>
#include <optional>

#include "core/events/Event.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/ProcessorSensors.h"
#include "core/profile/ProcessorTimes.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kInterval{500};

// CPU time of the whole process, user and system.
std::int64_t processCpuNs() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ns = [](const timeval& t) { return t.tv_sec * 1'000'000'000LL + t.tv_usec * 1'000LL; };
    return ns(used.ru_utime) + ns(used.ru_stime);
}

}  // namespace

DeviceSampler::DeviceSampler(EventSink& sink, const SessionClock& clock, int cores, std::function<void(DeviceSample&)> fillGpu,
                             const std::string& powercap)
    : m_sink(sink),
      m_clock(clock),
      m_cores(cores),
      m_fillGpu(std::move(fillGpu)),
      m_energy({}, powercap),
      m_thread([this](const std::stop_token& stop) { sample(stop); }) {}

DeviceSampler::~DeviceSampler() = default;

void DeviceSampler::sample(const std::stop_token& stop) {
    const std::vector<int> processors = usableProcessors();
    const ProcessorSensors sensors(processors);
    CpuQuota quota;
    std::int64_t cpuBefore = processCpuNs();
    auto timesBefore = processorTimes(processors);
    TimeNs before = m_clock.now();
    std::optional<double> joulesBefore = m_energy.read().joules();
    while (true) {
        std::unique_lock lock(m_mutex);
        m_wake.wait_for(lock, stop, kInterval, [] { return false; });
        if (stop.stop_requested()) return;
        const std::int64_t cpu = processCpuNs();
        const auto times = processorTimes(processors);
        const TimeNs now = m_clock.now();
        DeviceSample taken;
        taken.at = now;
        taken.cpuPct = 100.0 * static_cast<double>(cpu - cpuBefore) / static_cast<double>((now - before).ns) / m_cores;
        if (timesBefore && times)
            if (const auto shares = sharesBetween(*timesBefore, *times, cpu - cpuBefore)) {
                taken.othersPct = shares->othersPct;
                taken.stealPct = shares->stealPct;
            }
        if (const auto throttled = quota.throttledPct()) taken.throttledPct = *throttled;
        taken.residentBytes = residentMemory().count;
        taken.availableBytes = availableMemory().count;
        const ProcessorState state = sensors.read();
        taken.cpuClockMhz = state.mhz;
        taken.cpuTemperatureC = state.celsius;
        const std::optional<double> joules = m_energy.read().joules();
        if (joules) taken.cpuEnergyJ = *joules;
        if (joules && joulesBefore) taken.cpuPowerW = (*joules - *joulesBefore) / (now - before).seconds();
        if (m_fillGpu) m_fillGpu(taken);
        m_sink.publish(taken);
        cpuBefore = cpu;
        timesBefore = times;
        joulesBefore = joules;
        before = now;
    }
}

}  // namespace stepscope
