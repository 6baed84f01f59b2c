// ProcessorSensors: at what clock the processors that this process may use run, and how hot they are, as the kernel tells it: cpufreq, and the
// sensors of hwmon that are the processor's. Most virtual machines tell neither. Read by DeviceSampler on its thread.
#pragma once
#include <string>
#include <vector>

#include "core/base/Units.h"

namespace stepscope {

struct ProcessorState {
    double mhz = kUnknown;      // mean over the processors
    double celsius = kUnknown;  // of the hottest sensor
};

class ProcessorSensors {
public:
    // processors: numbers of the system. root: another one in tests.
    explicit ProcessorSensors(const std::vector<int>& processors, const std::string& root = "/sys");
    ProcessorState read() const;

private:
    std::vector<std::string> m_clocks, m_temperatures;  // files
};

}  // namespace stepscope
