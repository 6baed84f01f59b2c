// OperationCounters: what the processor counted while operations ran, as captures of it tell (core/profile/HardwareSource.h): sums of a whole
// session, on the threads that ran each. `profile` and the pane Operations show it beside OperationSummary. Blocks are added in any order.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/KeyedHash.h"
#include "core/trace/Sample.h"

namespace stepscope {

struct CountedOperation {
    // Nothing: not counted here.
    std::optional<double> instructionsPerCycle;
    std::optional<double> bytesPerSecond;  // that the last cache had to fetch
    std::optional<double> stalledShare;    // of its cycles, 0..1
};

class OperationCounters {
public:
    void add(const SampleBlock& block);  // of any samples; others are passed over
    bool known() const { return !m_sums.empty(); }
    CountedOperation of(const std::string& operation) const;
    std::int64_t missing() const { return m_missing; }  // sums that were lost or invalid

private:
    struct Sum {
        std::array<std::optional<double>, 5> values;
    };
    KeyedMap<std::string, Sum> m_sums;
    std::int64_t m_missing = 0;
};

}  // namespace stepscope
