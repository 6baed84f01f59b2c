// A kernel with hardware counters that a test plays: what it counts follows from `ticks`, so that every figure is known. Whoever opens and reads may
// do so from any thread.
#pragma once
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "core/profile/counters/PerfCalls.h"

namespace stepscope::testing {

class FakePerf final : public PerfCalls {
public:
    // In a tick, a nanosecond of time, there are 4 cycles, 6 instructions, 1 miss, and 1 cycle is stalled.
    std::atomic<std::uint64_t> ticks = 1000;
    std::atomic<std::uint64_t> away = 0;  // of them, those in which another program had the counters
    int refused = 0;                      // errno of each counter
    std::set<std::uint64_t> unknown;      // counters that this processor does not have
    std::size_t mostOpen = 1000;
    bool inError = false;  // the counters have stopped for good
    std::optional<int> level = 2;

    int open(perf_event_attr& counter, int, int group) override {
        const std::lock_guard lock(m_mutex);
        if (refused != 0) return -refused;
        if (unknown.contains(counter.config)) return -ENOENT;
        if (m_open.size() >= mostOpen) return -EMFILE;
        const int descriptor = ++m_last;
        m_open.insert(descriptor);
        m_groups[group < 0 ? descriptor : group].push_back(counter.config);
        kernelExcluded = kernelExcluded && counter.exclude_kernel != 0;
        return descriptor;
    }
    std::int64_t read(int descriptor, std::span<std::uint64_t> into) override {
        const std::lock_guard lock(m_mutex);
        if (inError) return 0;
        const auto& counters = m_groups.at(descriptor);
        const std::uint64_t counted = ticks - away;
        into[0] = counters.size();
        into[1] = ticks;
        into[2] = counted;
        for (std::size_t i = 0; i < counters.size(); ++i)
            into[3 + i] = counted * (counters[i] == PERF_COUNT_HW_CPU_CYCLES ? 4 : counters[i] == PERF_COUNT_HW_INSTRUCTIONS ? 6 : 1);
        return static_cast<std::int64_t>((3 + counters.size()) * sizeof(std::uint64_t));
    }
    void close(int descriptor) override {
        const std::lock_guard lock(m_mutex);
        m_open.erase(descriptor);
    }
    std::optional<int> paranoid() override { return level; }

    std::size_t open() const {
        const std::lock_guard lock(m_mutex);
        return m_open.size();
    }
    bool kernelExcluded = true;

private:
    mutable std::mutex m_mutex;
    int m_last = 10;
    std::set<int> m_open;
    std::map<int, std::vector<std::uint64_t>> m_groups;
};

}  // namespace stepscope::testing
