#include "app/gui/FlipMeter.h"

#include <algorithm>

namespace stepscope {
namespace {

bool tells(const RunHistory& history, std::size_t row) {
    return tellsOfFlips(history.steps().disturbed[row] != 0, history.steps().skipped[row] != 0);
}

StepSample sample(const StepColumns& steps, std::size_t row) {
    return {steps.stepMs[row], steps.tokensPerSecond[row], memoryOf(steps.peakBytes[row], steps.residentBytes[row]), steps.pageFaults[row],
            steps.operations[row]};
}

}  // namespace

void FlipMeter::flipped(const RunHistory& history, const SwitchApplied& flip) {
    if (flip.from == flip.to) return;
    const std::size_t rows = history.rows();
    // Steps before this flip count from the last flip's warm-up on, or from the run's.
    const std::size_t from = m_row + FlipEffect::kWarmUp;
    std::vector<StepSample> before;
    for (std::size_t row = rows; row > from && before.size() < FlipEffect::kSteps; --row)
        if (tells(history, row - 1)) before.push_back(sample(history.steps(), row - 1));
    m_row = rows;
    if (before.size() < FlipEffect::kFewest && m_before.size() >= FlipEffect::kFewest) return join(flip);
    m_before = std::move(before);
    m_flips = {flip};
    m_alone = true;
}

// Flips of one switch become one, from its first value to its last; there and back is none.
void FlipMeter::join(const SwitchApplied& flip) {
    SwitchApplied whole = flip;
    const auto former = std::ranges::find(m_flips, flip.id, &SwitchApplied::id);
    if (former != m_flips.end()) {
        whole.from = former->from;
        m_flips.erase(former);
    }
    if (whole.from != whole.to) m_flips.push_back(whole);
    if (!m_flips.empty()) m_flips.back().step = flip.step;  // what follows is measured from here
    m_alone = false;
}

void FlipMeter::forget() {
    m_flips.clear();
    m_before.clear();
    m_row = 0;
}

std::optional<FlipReading> FlipMeter::read(const RunHistory& history) const {
    if (m_flips.empty()) return std::nullopt;
    std::vector<StepSample> after;
    for (std::size_t row = m_row + FlipEffect::kWarmUp; row < history.rows() && after.size() < FlipEffect::kSteps; ++row)
        if (tells(history, row)) after.push_back(sample(history.steps(), row));
    return FlipReading{m_flips, m_alone, measureFlip(m_before, after), after.size() == FlipEffect::kSteps};
}

}  // namespace stepscope
