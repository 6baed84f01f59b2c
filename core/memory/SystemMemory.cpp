#include "core/memory/SystemMemory.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

namespace stepscope {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t memInfo(const std::string& key) {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    std::int64_t kibibytes = 0;
    while (file >> name >> kibibytes) {
        std::getline(file, unit);
        if (name == key + ":") return kibibytes * 1024;
    }
    return 0;
}

std::int64_t readNumber(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? number : kUnlimited;  // "max" is not a number: unlimited
}

// A cgroup's use counts the pages of files that were read, which go when memory is needed.
std::int64_t cachedFiles(const std::string& statistics, bool v2) {
    std::ifstream file(statistics);
    std::string name;
    std::int64_t bytes = 0, sum = 0;
    const std::string total = v2 ? "" : "total_";
    while (file >> name >> bytes)
        if (name == total + "inactive_file" || name == total + "active_file") sum += bytes;
    return sum;
}

// The cgroup v2 folder of this process ("0::/user.slice/..."), or v1's memory controller.
struct Cgroup {
    std::int64_t limit = kUnlimited, used = 0;
};
Cgroup cgroup() {
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    Cgroup tightest;
    while (std::getline(file, line)) {
        const bool v2 = line.rfind("0::", 0) == 0;
        if (!v2 && line.find(":memory:") == std::string::npos) continue;
        std::string path = line.substr(line.rfind(':') + 1);
        const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        // A limit may be set on any ancestor.
        while (true) {
            const std::string folder = root + (path == "/" ? "" : path);
            const std::int64_t limit = readNumber(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
            if (limit < tightest.limit) {
                const std::int64_t used = readNumber(folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
                tightest = {limit, used == kUnlimited ? 0 : std::max<std::int64_t>(0, used - cachedFiles(folder + "/memory.stat", v2))};
            }
            if (path.empty() || path == "/") break;
            path = path.substr(0, path.rfind('/'));
        }
    }
    return tightest;
}

}  // namespace

Bytes totalMemory() {
    return {std::min(memInfo("MemTotal"), cgroup().limit)};
}

Bytes availableMemory() {
    const Cgroup group = cgroup();
    const std::int64_t left = group.limit == kUnlimited ? kUnlimited : std::max<std::int64_t>(0, group.limit - group.used);
    return {std::min(memInfo("MemAvailable"), left)};
}

Bytes residentMemory() {
    // Kept open: this is read after every step.
    static const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[128];
    const ssize_t got = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);
    if (got <= 0) return {0};
    text[got] = '\0';
    long long whole = 0, resident = 0;
    if (std::sscanf(text, "%lld %lld", &whole, &resident) != 2) return {0};
    return {resident * sysconf(_SC_PAGESIZE)};
}

Bytes peakResidentMemory() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return {used.ru_maxrss * 1024};
}

}  // namespace stepscope
