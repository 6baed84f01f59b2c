#include "core/profile/counters/PerfCalls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace stepscope {
namespace {

class Kernel final : public PerfCalls {
    int open(perf_event_attr& counter, int thread, int group) override {
        const long made = ::syscall(SYS_perf_event_open, &counter, thread, -1, group, PERF_FLAG_FD_CLOEXEC);
        return made >= 0 ? static_cast<int>(made) : -errno;
    }
    std::int64_t read(int descriptor, std::span<std::uint64_t> into) override {
        const ssize_t got = ::read(descriptor, into.data(), into.size_bytes());
        return got >= 0 ? got : -errno;
    }
    void close(int descriptor) override { ::close(descriptor); }
    std::optional<int> paranoid() override {
        std::ifstream file("/proc/sys/kernel/perf_event_paranoid");
        int level = 0;
        return file >> level ? std::optional(level) : std::nullopt;
    }
};

}  // namespace

PerfCalls& systemPerf() {
    static Kernel kernel;
    return kernel;
}

}  // namespace stepscope
