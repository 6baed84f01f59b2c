#include "core/profile/EnergyCounter.h"

#include <filesystem>
#include <fstream>

namespace stepscope {
namespace {

std::optional<std::int64_t> numberIn(const std::string& file) {
    std::ifstream in(file);
    std::int64_t value = 0;
    if (!(in >> value) || value < 0) return std::nullopt;
    return value;
}

// "intel-rapl:0", not "intel-rapl:0:1", which is a part of it: cores, memory.
bool isPackage(const std::string& name) {
    const auto first = name.find(':');
    return name.starts_with("intel-rapl") && first != std::string::npos && name.find(':', first + 1) == std::string::npos;
}

}  // namespace

EnergyCounter::EnergyCounter(const std::string& folder) {
    std::error_code problem;
    for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
        if (!isPackage(entry->path().filename().string())) continue;
        Package package{.file = (entry->path() / "energy_uj").string()};
        const auto now = numberIn(package.file), range = numberIn((entry->path() / "max_energy_range_uj").string());
        if (!now || !range) {  // some packages without the others are no sum
            m_packages.clear();
            return;
        }
        package.last = *now;
        package.range = *range;
        m_packages.push_back(std::move(package));
    }
}

std::optional<double> EnergyCounter::joules() const {
    if (m_packages.empty()) return std::nullopt;
    for (Package& package : m_packages) {
        const auto now = numberIn(package.file);
        if (!now) return std::nullopt;
        m_sum += static_cast<double>(*now >= package.last ? *now - package.last : *now + package.range - package.last) / 1e6;
        package.last = *now;
    }
    return m_sum;
}

}  // namespace stepscope
