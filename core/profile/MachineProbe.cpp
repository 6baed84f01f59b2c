#include "core/profile/MachineProbe.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "core/memory/SystemMemory.h"
#include "core/profile/EnergyCounter.h"

namespace stepscope {
namespace {

std::string valueAfter(const std::string& path, const std::string& key, char separator) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.rfind(key, 0) != 0) continue;
        const auto at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string value = line.substr(at + 1);
        std::erase(value, '"');
        const auto begin = value.find_first_not_of(" \t");
        return begin == std::string::npos ? "" : value.substr(begin);
    }
    return {};
}

// Cores this process may use: its affinity, and a cgroup v2 quota when there is one.
int usableCores() {
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    std::ifstream quota("/sys/fs/cgroup/cpu.max");
    double allowed = 0, period = 0;
    if (quota >> allowed >> period && period > 0) cores = std::min(cores, std::max(1, static_cast<int>(allowed / period)));
    return std::max(1, cores);
}

std::vector<std::string> instructions() {
    std::istringstream flags(valueAfter("/proc/cpuinfo", "flags", ':'));
    std::vector<std::string> known;
    std::string flag;
    while (flags >> flag) {
        if (flag == "avx2" || flag == "avx512_bf16" || flag == "amx_bf16" || flag == "avx512_fp16" || flag == "amx_fp16") known.push_back(flag);
        if (flag == "avx512f") known.push_back("avx512");
    }
    return known;
}

}  // namespace

Machine probeMachine() {
    Machine machine;
    machine.cpu = valueAfter("/proc/cpuinfo", "model name", ':');
    machine.cores = usableCores();
    machine.memory = totalMemory();
    machine.instructions = instructions();
    utsname kernel{};
    uname(&kernel);
    machine.system = fmt::format("{}, Linux {}", valueAfter("/etc/os-release", "PRETTY_NAME", '='), kernel.release);
    machine.stepscope = STEPSCOPE_VERSION;
    machine.whyNoProcessorEnergy = whyNoProcessorEnergy();
    machine.libtorch = fmt::format("{}.{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_PATCH);
    return machine;
}

}  // namespace stepscope
