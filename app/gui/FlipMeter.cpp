// See FlipMeter.h.
#include "app/gui/FlipMeter.h"

#include <algorithm>

namespace stepscope {
namespace {

std::vector<StepSample> samples(const RunHistory& history, std::size_t begin, std::size_t end) {
    const StepColumns& steps = history.steps();
    std::vector<StepSample> all;
    for (std::size_t row = begin; row < end; ++row)
        all.push_back({steps.stepMs[row], steps.tokensPerSecond[row], steps.residentBytes[row], steps.pageFaults[row], steps.operations[row]});
    return all;
}

}  // namespace

void FlipMeter::flipped(const RunHistory& history, const SwitchApplied& flip) {
    const std::size_t rows = history.rows();
    // Steps before this flip count from the last flip's warm-up on, or from the run's.
    const std::size_t from = m_row + FlipEffect::kWarmUp;
    const std::size_t begin = std::max(from, rows > FlipEffect::kSteps ? rows - FlipEffect::kSteps : 0);
    m_before = begin < rows ? samples(history, begin, rows) : std::vector<StepSample>{};
    m_flip = flip;
    m_row = rows;
}

void FlipMeter::forget() {
    m_flip.reset();
    m_before.clear();
    m_row = 0;
}

std::optional<FlipReading> FlipMeter::read(const RunHistory& history) const {
    if (!m_flip || m_flip->from == m_flip->to) return std::nullopt;
    const std::size_t begin = std::min(history.rows(), m_row + FlipEffect::kWarmUp), end = std::min(history.rows(), begin + FlipEffect::kSteps);
    return FlipReading{*m_flip, measureFlip(m_before, samples(history, begin, end)), end - begin == FlipEffect::kSteps};
}

}  // namespace stepscope
