// EnergyCounter: what the machine's processors have used, as the kernel's powercap files count it (RAPL): of whole packages, so of all programs
// together. Readable for root alone on most systems, and absent on most virtual machines; then it is unknown. One thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

class EnergyCounter {
public:
    // folder: that of powercap; another one in tests.
    explicit EnergyCounter(const std::string& folder = "/sys/class/powercap");

    // Joules since this counter was made; nothing where no package can be read, or one cannot any more. Counters that wrap are followed when they are
    // asked for at least once a wrap (minutes at full load).
    std::optional<double> joules() const;

private:
    struct Package {
        std::string file;
        std::int64_t range = 0, last = 0;  // microjoules
    };
    mutable std::vector<Package> m_packages;
    mutable double m_sum = 0;
};

}  // namespace stepscope
