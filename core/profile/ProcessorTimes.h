// ProcessorTimes: what the processors that this process may use have done since the machine was started, as /proc/stat counts it. Two readings
// say how much of the time between them other processes had, and how much the host of a virtual machine gave to somebody else.
// Read by DeviceSampler on its thread.
#pragma once
#include <cstdint>
#include <istream>
#include <optional>
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

}  // namespace stepscope
