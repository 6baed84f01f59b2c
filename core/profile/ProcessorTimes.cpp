#include "core/profile/ProcessorTimes.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace stepscope {
namespace {

constexpr int kMostAncestors = 64;

// Of a line of /proc/self/cgroup, "0::/a/b" or "4:cpu,cpuacct:/a/b": where that hierarchy is mounted under the root, and the group in it.
bool isOfProcessors(const std::string& line, std::string& mounted, std::string& group) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) return false;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    group = line.substr(second + 1);
    mounted = controllers.empty() ? "" : "/" + controllers;
    return controllers.empty() || ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

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

CpuQuota::CpuQuota(const std::string& groups, const std::string& root) {
    std::ifstream file(groups);
    std::string line, mounted, path;
    while (std::getline(file, line)) {
        if (!isOfProcessors(line, mounted, path)) continue;
        // Some kernels name the controllers in another order than the folder does, which is linked as "cpu" then.
        if (std::error_code problem; !mounted.empty() && !std::filesystem::is_directory(root + mounted, problem)) mounted = "/cpu";
        // Inside a container the path may be of the host, where nothing is seen; its own group is the root then.
        for (int i = 0; i < kMostAncestors; ++i) {
            const std::string statistics = root + mounted + (path == "/" ? "" : path) + "/cpu.stat";
            if (const auto now = read(statistics)) m_groups.push_back({statistics, *now});
            const auto slash = path.rfind('/');
            if (path.empty() || path == "/" || slash == std::string::npos) break;
            path.resize(slash);
        }
    }
}

std::optional<CpuQuota::Periods> CpuQuota::read(const std::string& statistics) {
    std::ifstream file(statistics);
    std::string name;
    std::int64_t count = 0;
    Periods periods;
    bool counted = false;
    while (file >> name >> count) {
        if (name == "nr_periods") periods.all = count;
        if (name == "nr_throttled") periods.throttled = count;
        counted |= name == "nr_periods";
    }
    if (!counted) return std::nullopt;
    return periods;
}

std::optional<double> CpuQuota::throttledPct() {
    std::optional<double> most;
    for (Group& group : m_groups) {
        const auto now = read(group.statistics);
        if (!now || now->all <= 0) continue;
        const auto periods = now->all - group.before.all, throttled = now->throttled - group.before.throttled;
        const double share = periods > 0 ? 100 * std::clamp(static_cast<double>(throttled) / static_cast<double>(periods), 0.0, 1.0) : 0;
        most = std::max(most.value_or(0), share);
        group.before = *now;
    }
    return most;
}

}  // namespace stepscope
