// EnergyCounter: what the machine has used, as it counts it: its processors by the kernel's powercap files (RAPL), whole packages, so all programs
// together; and the GPUs that are named, by NVML. RAPL is readable for root alone on most systems and absent on most virtual machines. A GPU that
// does not tell leaves the sum unknown, since it is the larger part; processors that do not tell are left out beside a GPU that does. One thread.
#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

class EnergyReading {
public:
    // Joules since the counter was made; nothing where that is not known. The first call may wait for a GPU's answer, some hundredths of a second.
    std::optional<double> joules() const;

private:
    friend class EnergyCounter;
    std::optional<double> m_processors;
    std::vector<std::shared_future<std::optional<double>>> m_gpus;  // since each one's first
};

class EnergyCounter {
public:
    // One GPU's joules since anything; nothing: it does not tell. Called on threads of its own.
    using Gpu = std::function<std::optional<double>()>;

    // folder: that of powercap; another one in tests.
    explicit EnergyCounter(std::vector<Gpu> gpus = {}, const std::string& folder = "/sys/class/powercap");

    // Now, without waiting: NVML's answer takes longer than the steps that are measured can be kept waiting, its number is of the begin of the call.
    // Counters that wrap are followed when they are asked for at least once a wrap (minutes at full load).
    EnergyReading read() const;

private:
    struct Package {
        std::string file;
        std::int64_t range = 0, last = 0;  // microjoules
    };
    std::optional<double> processors() const;

    mutable std::vector<Package> m_packages;
    mutable double m_sum = 0;
    std::vector<std::pair<Gpu, double>> m_gpus;  // each with its first reading
    bool m_gpuIsUnknown = false;
};

// A sentence where the processors do not tell: nothing is there, or this user may not read it and what to do. Empty: they do. Other arguments in
// tests.
bool mayRead(const std::string& file);
std::string whyNoProcessorEnergy(const std::string& folder = "/sys/class/powercap", bool (*readable)(const std::string&) = mayRead);

// The GPUs of these numbers, as the CUDA plug-in's NVML tells of them; each once.
std::vector<EnergyCounter::Gpu> gpusEnergy(std::vector<int> gpus);

}  // namespace stepscope
