#include "core/profile/ProcessorSensors.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace stepscope {
namespace {

// Asking a processor for its clock may interrupt it: of many, some tell enough.
constexpr std::size_t kMostAsked = 8;
constexpr double kHottest = 200;  // degrees; a sensor that is not connected says anything

// Drivers whose sensors are the processor's: Intel, AMD, AMD by others, ARM boards.
constexpr std::array<std::string_view, 5> kOfProcessors{"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"};

double numberOf(const std::string& file) {
    std::ifstream in(file);
    double value = 0;
    return in >> value ? value : kUnknown;
}

bool isOfProcessors(const std::filesystem::path& sensors) {
    std::ifstream in(sensors / "name");
    std::string name;
    in >> name;
    for (const std::string_view known : kOfProcessors)
        if (name == known) return true;
    return false;
}

}  // namespace

ProcessorSensors::ProcessorSensors(const std::vector<int>& processors, const std::string& root) {
    const std::size_t every = (processors.size() + kMostAsked - 1) / kMostAsked;
    for (std::size_t i = 0; i < processors.size(); i += every) {
        std::string file = root + "/devices/system/cpu/cpu" + std::to_string(processors[i]) + "/cpufreq/scaling_cur_freq";
        if (std::isfinite(numberOf(file))) m_clocks.push_back(std::move(file));
    }
    std::error_code problem;
    for (std::filesystem::directory_iterator folder(root + "/class/hwmon", problem), end; !problem && folder != end; folder.increment(problem)) {
        if (!isOfProcessors(folder->path())) continue;
        std::error_code none;
        for (std::filesystem::directory_iterator file(folder->path(), none), last; !none && file != last; file.increment(none)) {
            const std::string name = file->path().filename().string();
            if (name.starts_with("temp") && name.ends_with("_input")) m_temperatures.push_back(file->path().string());
        }
    }
}

ProcessorState ProcessorSensors::read() const {
    ProcessorState state;
    double sum = 0, count = 0;
    for (const std::string& file : m_clocks)
        if (const double kilohertz = numberOf(file); kilohertz > 0) {
            sum += kilohertz / 1000;
            ++count;
        }
    if (count > 0) state.mhz = sum / count;
    for (const std::string& file : m_temperatures)
        if (const double celsius = numberOf(file) / 1000; celsius > 0 && celsius < kHottest) state.celsius = std::fmax(state.celsius, celsius);
    return state;
}

}  // namespace stepscope
