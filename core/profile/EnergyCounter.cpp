#include "core/profile/EnergyCounter.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/cuda/loader/CudaPlugin.h"

namespace stepscope {
namespace {

std::optional<std::int64_t> numberIn(const std::string& file) {
    std::ifstream in(file);
    std::int64_t value = 0;
    if (!(in >> value) || value < 0) return std::nullopt;
    return value;
}

// "intel-rapl:0", not "intel-rapl:0:1", which is a part of it: cores, memory; nor "intel-rapl-mmio:0", another door to the same counter; nor what
// counts the whole platform, packages and all.
bool isPackage(const std::filesystem::path& zone) {
    const std::string name = zone.filename().string();
    if (!name.starts_with("intel-rapl:") || name.find(':') != name.rfind(':')) return false;
    std::ifstream in(zone / "name");
    std::string told;
    return !(in >> told) || told != "psys";
}

std::vector<std::filesystem::path> packagesIn(const std::string& folder) {
    std::vector<std::filesystem::path> found;
    std::error_code problem;
    for (std::filesystem::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
        if (isPackage(entry->path())) found.push_back(entry->path());
    return found;
}

}  // namespace

std::optional<double> EnergyReading::joules() const {
    if (m_gpus.empty()) return m_processors;
    double sum = m_processors.value_or(0);
    for (const auto& gpu : m_gpus) {
        const auto used = gpu.get();
        if (!used) return std::nullopt;
        sum += *used;
    }
    return sum;
}

EnergyCounter::EnergyCounter(std::vector<Gpu> gpus, const std::string& folder) {
    for (Gpu& gpu : gpus) {
        const auto first = gpu();
        m_gpuIsUnknown = m_gpuIsUnknown || !first;
        m_gpus.emplace_back(std::move(gpu), first.value_or(0));
    }
    for (const auto& zone : packagesIn(folder)) {
        Package package{.file = (zone / "energy_uj").string()};
        const auto now = numberIn(package.file), range = numberIn((zone / "max_energy_range_uj").string());
        if (!now || !range) {  // some packages without the others are no sum
            m_packages.clear();
            return;
        }
        package.last = *now;
        package.range = *range;
        m_packages.push_back(std::move(package));
    }
}

std::optional<double> EnergyCounter::processors() const {
    if (m_packages.empty()) return std::nullopt;
    for (Package& package : m_packages) {
        const auto now = numberIn(package.file);
        if (!now) return std::nullopt;
        m_sum += static_cast<double>(*now >= package.last ? *now - package.last : *now + package.range - package.last) / 1e6;
        package.last = *now;
    }
    return m_sum;
}

EnergyReading EnergyCounter::read() const {
    EnergyReading reading;
    if (m_gpuIsUnknown) return reading;
    reading.m_processors = processors();
    for (const auto& [gpu, first] : m_gpus)
        reading.m_gpus.push_back(std::async(std::launch::async, [gpu = gpu, first = first]() -> std::optional<double> {
                                     const auto now = gpu();
                                     if (!now) return std::nullopt;
                                     return *now - first;
                                 }).share());
    return reading;
}

bool mayRead(const std::string& file) {
    return ::access(file.c_str(), R_OK) == 0;
}

std::string whyNoProcessorEnergy(const std::string& folder, bool (*readable)(const std::string&)) {
    const auto packages = packagesIn(folder);
    std::error_code ignored;
    if (packages.empty()) return "This machine exposes no energy counters of its processors (RAPL); most virtual machines hide them.";
    for (const auto& zone : packages) {
        const std::string file = (zone / "energy_uj").string();
        if (std::filesystem::exists(file, ignored) && !readable(file))
            return "This user may not read the energy counters of the processors (RAPL), as on most systems; until the next start \"sudo chmod a+r " +
                   folder + "/intel-rapl:*/energy_uj\" lets everybody.";
        if (!numberIn(file) || !numberIn((zone / "max_energy_range_uj").string()))
            return "The energy counters of the processors (RAPL) of this machine tell no number: " + file + ".";
    }
    return {};
}

std::vector<EnergyCounter::Gpu> gpusEnergy(std::vector<int> gpus) {
    std::ranges::sort(gpus);
    const auto [same, end] = std::ranges::unique(gpus);
    gpus.erase(same, end);
    std::vector<EnergyCounter::Gpu> all;
    for (const int gpu : gpus)
        all.push_back([gpu, interface = cudaPlugin().interface]() -> std::optional<double> {
            CudaGpuSample sample{};
            if (interface == nullptr || interface->sampleGpu == nullptr || interface->sampleGpu(gpu, &sample) != nullptr) return std::nullopt;
            if (sample.energyJoules < 0) return std::nullopt;
            return sample.energyJoules;
        });
    return all;
}

}  // namespace stepscope
