// ProcessorTimes: what the processors that this process may use have done since the machine was started, as /proc/stat counts it. Two readings
// say how much of the time between them other processes had, and how much the host of a virtual machine gave to somebody else.
// CpuQuota says how often a quota of processors stopped its threads. Read by DeviceSampler on its thread.
#pragma once
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

struct ProcessorTimes {  // summed over those processors
    std::int64_t busyNs = 0, idleNs = 0, stealNs = 0;
    std::int64_t totalNs() const { return busyNs + idleNs + stealNs; }
};

std::vector<int> usableProcessors();  // numbers of those that this process may run on
// Nothing where `stat` does not have the lines of /proc/stat for them.
std::optional<ProcessorTimes> processorTimes(std::istream& stat, const std::vector<int>& processors);
std::optional<ProcessorTimes> processorTimes(const std::vector<int>& processors);  // now

struct ProcessorShares {  // in per cent of the time of all those processors
    double othersPct, stealPct;
};
// ownNs: the processor time of this process in between. Nothing where the counters stand still: some sandboxes keep none.
std::optional<ProcessorShares> sharesBetween(const ProcessorTimes& before, const ProcessorTimes& after, std::int64_t ownNs);

// How often the quota of a control group (a container, a service, a slice of a user) has stopped this process's threads until the next
// period. Two readings say in which share of the periods between them that happened; the same number is what people watch in Kubernetes.
// https://docs.kernel.org/scheduler/sched-bwc.html.
class CpuQuota {
public:
    // groups: which this process is in, as /proc/self/cgroup says it (version 1 or 2); root: where the groups are mounted.
    explicit CpuQuota(const std::string& groups = "/proc/self/cgroup", const std::string& root = "/sys/fs/cgroup");

    // Of the periods since the reading before, or since this object was made, how many per cent: of the group that is held up most, for a quota may
    // be set on any ancestor. 0 where no period has passed. Nothing where no group that is seen here has ever counted one: there is no quota.
    std::optional<double> throttledPct();

private:
    struct Periods {
        std::int64_t all = 0, throttled = 0;
    };
    struct Group {
        std::string statistics;  // path of its cpu.stat
        Periods before;
    };
    static std::optional<Periods> read(const std::string& statistics);

    std::vector<Group> m_groups;
};

}  // namespace stepscope
