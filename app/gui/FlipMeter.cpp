// See FlipMeter.h.
#include "app/gui/FlipMeter.h"

namespace stepscope {
namespace {

bool tells(const RunHistory& history, std::size_t row) { return tellsOfFlips(history.steps().disturbed[row] != 0, history.steps().skipped[row] != 0); }

StepSample sample(const StepColumns& steps, std::size_t row) {
    return {steps.stepMs[row], steps.tokensPerSecond[row], memoryOf(steps.peakBytes[row], steps.residentBytes[row]), steps.pageFaults[row], steps.operations[row]};
}

}  // namespace

void FlipMeter::flipped(const RunHistory& history, const SwitchApplied& flip) {
    const std::size_t rows = history.rows();
    // Steps before this flip count from the last flip's warm-up on, or from the run's.
    const std::size_t from = m_row + FlipEffect::kWarmUp;
    m_before.clear();
    for (std::size_t row = rows; row > from && m_before.size() < FlipEffect::kSteps; --row)
        if (tells(history, row - 1)) m_before.push_back(sample(history.steps(), row - 1));
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
    std::vector<StepSample> after;
    for (std::size_t row = m_row + FlipEffect::kWarmUp; row < history.rows() && after.size() < FlipEffect::kSteps; ++row)
        if (tells(history, row)) after.push_back(sample(history.steps(), row));
    return FlipReading{*m_flip, measureFlip(m_before, after), after.size() == FlipEffect::kSteps};
}

}  // namespace stepscope
