#include "core/train/RecordingCost.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "core/analysis/Statistics.h"
#include "core/program/PhaseClock.h"

namespace stepscope {
namespace {

// One step's phases take less than a clock can tell.
constexpr std::int64_t kEnteredAtOnce = 200, kEnteredOnDevice = 20;
constexpr std::size_t kRepeated = 5;

double nsOfAPhase(c10::Device device) {
    const std::int64_t count = device.is_cpu() ? kEnteredAtOnce : kEnteredOnDevice;
    std::array<std::int64_t, kPhases> into{};
    std::array<double, kRepeated> took{};
    for (double& one : took) {
        const auto begin = std::chrono::steady_clock::now();
        PhaseClock clock(into, device);
        for (std::int64_t i = 0; i < count; ++i) clock.enter(i % 2 == 0 ? Phase::Forward : Phase::Backward);
        clock.settle();
        const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
        one = spent.count() / static_cast<double>(count);
    }
    return median(took);
}

}  // namespace

void RecordingCost::add(TimeNs took, std::int64_t phases) {
    m_took.push_back(static_cast<double>(took.ns));
    if (m_took.size() > kKept) m_took.pop_front();
    m_phases = phases;
}

RecordingCosts RecordingCost::measure(c10::Device device) const {
    RecordingCosts costs;
    if (m_took.size() < kFewest) return costs;
    costs.recordNs = median(std::vector<double>(m_took.begin(), m_took.end()));
    if (m_phases > 0) costs.phasesNs = static_cast<double>(m_phases) * nsOfAPhase(device);
    return costs;
}

}  // namespace stepscope
