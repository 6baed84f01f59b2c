#include "core/analysis/captures/OperationCounters.h"

#include <algorithm>
#include <string_view>

#include "core/trace/Lod.h"

namespace stepscope {
namespace {

constexpr std::array<std::string_view, 5> kUnits{"cycles", "instructions", "B", "stalled cycles", "ns"};
enum Place { kCycles, kInstructions, kFetched, kStalled, kTime };

}  // namespace

void OperationCounters::add(const SampleBlock& block) {
    if (block.name != kCountedOperations) return;
    m_missing = cappedSum(m_missing, cappedSum(block.lost, block.invalid));
    for (const Sample& sample : block.samples) {
        const SampleSeries& series = block.series[sample.series];
        const auto unit = std::ranges::find(kUnits, series.unit);
        if (unit == kUnits.end() || sample.value < 0) continue;
        auto& sum = m_sums[series.name].values[static_cast<std::size_t>(unit - kUnits.begin())];
        sum = sum.value_or(0) + sample.value;
    }
}

CountedOperation OperationCounters::of(const std::string& operation) const {
    const auto found = m_sums.find(operation);
    if (found == m_sums.end()) return {};
    const auto& values = found->second.values;
    const auto ratio = [&](Place part, Place of, double scale) -> std::optional<double> {
        if (!values[part] || !values[of] || *values[of] <= 0) return std::nullopt;
        return *values[part] / *values[of] * scale;
    };
    return {.instructionsPerCycle = ratio(kInstructions, kCycles, 1),
            .bytesPerSecond = ratio(kFetched, kTime, 1e9),
            .stalledShare = ratio(kStalled, kCycles, 1)};
}

}  // namespace stepscope
