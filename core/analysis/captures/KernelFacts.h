// What streams tell of the kernels of one name, on all GPUs: in which phase they ran, how long they waited and how much of a GPU they filled. From
// the works of a range (DeviceSummary), or as sums that hold no works (KernelFactSums, in KernelSummary).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/base/Units.h"

namespace stepscope {

struct KernelFacts {
    std::string phase;                                    // where most of its time was spent; empty: unknown
    TimeNs launchDelay;                                   // of a call, from the begin of the launch to its own
    std::int64_t launched = 0;                            // calls whose launches are known
    double blocksPerMultiprocessor = -1, occupancy = -1;  // weighted by time; < 0: unknown
};
// By name. devices: by rank.
std::map<std::string, KernelFacts> kernelFacts(const std::map<std::int64_t, DeviceSummary>& devices);

// Of times that a file may have made as large as they can be: no further than a number holds.
std::int64_t boundedTime(std::int64_t a, std::int64_t b);

// The same facts added up kernel by kernel.
class KernelFactSums {
public:
    // Texts are the caller's, by their places; so is what a place of these sums stands for.
    struct Kernel {
        std::uint32_t phase = 0, role = 0;
        std::int32_t layer = -1;
        std::int64_t duration = 0;
        float blocks = -1, occupancy = -1;  // < 0: unknown
    };
    struct Waited {  // of the kernels of a place together
        std::int64_t delay = 0, launched = 0;
    };
    // Kernels of one name of one worker.
    std::uint32_t placeOf(std::int64_t rank, std::uint32_t name);
    void add(std::uint32_t place, const Kernel& kernel);
    std::size_t places() const { return m_sums.size(); }
    // waited: by place.
    std::map<std::string, KernelFacts> facts(const std::vector<std::string>& texts, const std::vector<Waited>& waited) const;

private:
    struct Sum {
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::int64_t> ofPlace;  // phase, role, layer
        std::int64_t total = 0;
        double blocks = 0, occupancy = 0, known = 0;
    };
    std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> m_places;  // by rank and name
    std::vector<Sum> m_sums;
};

}  // namespace stepscope
