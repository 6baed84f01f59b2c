// Sample: the value of a counter at an instant: utilisation, power, the length of a queue, a loss that another program logged. SampleBlock: a few
// thousand of them of one lane with their series, recorded or imported, stored (SampleCodec.h), drawn and exported. A block stands for itself, as a
// SliceBlock does.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

struct Sample {
    std::int64_t at = 0;       // ns of the session's clock
    std::uint32_t series = 0;  // a place in SampleBlock::series; 0: of none, which is not stored
    double value = 0;          // finite, in the unit of its series

    bool operator==(const Sample&) const = default;
};

struct SampleSeries {
    std::string name;
    std::string unit;  // "B", "W", "%"; empty: a number without one, or unknown
    bool operator==(const SampleSeries&) const = default;
};

struct SampleBlock {
    std::int64_t lane = 0;     // where it is drawn: a number that the session's other lanes of samples do not have
    std::int64_t process = 0;  // of the system; of a device its ordinal
    std::int64_t device = -1;  // ordinal of the device that was measured; -1: the host
    std::int64_t rank = 0;     // which of the workers of a distributed run
    std::string name;          // of what was measured; empty: unknown
    std::int64_t lost = 0;     // samples that could not be kept since the block before
    std::int64_t invalid = 0;  //   and that were no finite number or of no series
    std::vector<SampleSeries> series{SampleSeries()};
    std::vector<Sample> samples;

    bool operator==(const SampleBlock&) const = default;
};

// The name of a block that holds no values over time but sums of a capture: what the processor counted (HardwareSource.h), a series an operation and
// unit, at the capture's begin.
constexpr const char* kCountedOperations = "hardware counters by operation";

}  // namespace stepscope
