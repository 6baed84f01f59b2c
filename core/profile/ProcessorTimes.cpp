#include "core/profile/ProcessorTimes.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>

namespace stepscope {

std::vector<int> usableProcessors() {
    std::vector<int> numbers;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return numbers;
    for (int number = 0; number < CPU_SETSIZE; ++number)
        if (CPU_ISSET(number, &set)) numbers.push_back(number);
    return numbers;
}

std::optional<ProcessorTimes> processorTimes(std::istream& stat, const std::vector<int>& processors) {
    const std::int64_t nsPerTick = 1'000'000'000 / std::max(1L, sysconf(_SC_CLK_TCK));
    ProcessorTimes sum;
    std::size_t found = 0;
    std::string line;
    while (std::getline(stat, line) && line.starts_with("cpu")) {
        std::istringstream words(line.substr(3));
        int number = -1;
        if (line.size() < 4 || line[3] == ' ' || !(words >> number) || !std::ranges::count(processors, number)) continue;
        // user nice system idle iowait irq softirq steal; a guest's time is within user.
        std::array<std::int64_t, 8> ticks{};
        for (auto& each : ticks)
            if (!(words >> each)) return std::nullopt;
        const auto [user, nice, system, idle, waiting, irq, softirq, steal] = ticks;
        sum.busyNs += (user + nice + system + irq + softirq) * nsPerTick;
        sum.idleNs += (idle + waiting) * nsPerTick;
        sum.stealNs += steal * nsPerTick;
        ++found;
    }
    if (found == 0 || found != processors.size()) return std::nullopt;
    return sum;
}

std::optional<ProcessorTimes> processorTimes(const std::vector<int>& processors) {
    std::ifstream stat("/proc/stat");
    return processorTimes(stat, processors);
}

std::optional<ProcessorShares> sharesBetween(const ProcessorTimes& before, const ProcessorTimes& after, std::int64_t ownNs) {
    const auto total = static_cast<double>(after.totalNs() - before.totalNs());
    if (total <= 0) return std::nullopt;
    // The two clocks tick apart by a hundredth of a second or so: a little less than nothing is nothing.
    const auto share = [total](std::int64_t ns) { return std::clamp(100.0 * static_cast<double>(ns) / total, 0.0, 100.0); };
    return ProcessorShares{share(after.busyNs - before.busyNs - ownNs), share(after.stealNs - before.stealNs)};
}

}  // namespace stepscope
