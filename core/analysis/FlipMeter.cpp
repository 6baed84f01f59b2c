#include "core/analysis/FlipMeter.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/FlipContext.h"

namespace stepscope {
namespace {

bool tells(const RunHistory& history, std::size_t row) {
    return tellsOfFlips(history.steps().disturbed[row] != 0, history.steps().skipped[row] != 0);
}

StepSample sample(const StepColumns& steps, std::size_t row) {
    return {steps.stepMs[row],     steps.tokensPerSecond[row], memoryOf(steps.peakBytes[row], steps.residentBytes[row]),
            steps.pageFaults[row], steps.operations[row],      steps.seconds[row]};
}

// From `since` on, those that know more than this process's own share.
std::vector<MachineSample> machineSamples(const RunHistory& history, double since) {
    const DeviceColumns& device = history.device();
    std::vector<MachineSample> all;
    for (std::size_t row = device.place.size(); row > 0 && device.place[row - 1].seconds >= since; --row)
        if (std::isfinite(device.othersPct[row - 1]))
            all.push_back({device.place[row - 1].seconds, device.othersPct[row - 1], device.stealPct[row - 1]});
    std::ranges::reverse(all);
    return all;
}

}  // namespace

void FlipMeter::flipped(const RunHistory& history, const SwitchApplied& flip) {
    take(history, history.rows(), history.config(), flip);
}

void FlipMeter::catchUp(const RunHistory& history) {
    forget();
    if (!history.info()) return;
    RunConfig config = history.info()->config.value_or(RunConfig{});
    for (const FlippedSwitch& one : history.flips()) {
        config.switches[one.flip.id] = one.flip.to;
        take(history, one.row, config, one.flip);
    }
}

// rows: of the history when it was made; config: with it.
void FlipMeter::take(const RunHistory& history, std::size_t rows, const RunConfig& config, const SwitchApplied& flip) {
    if (flip.from == flip.to) return;
    // Steps before this flip count from the last flip's warm-up on, or from the run's.
    const std::size_t from = m_row + FlipEffect::kWarmUp;
    std::vector<StepSample> before, earlier;
    for (std::size_t row = rows; row > from && earlier.size() < FlipEffect::kSteps; --row)
        if (tells(history, row - 1)) (before.size() < FlipEffect::kSteps ? before : earlier).push_back(sample(history.steps(), row - 1));
    m_row = rows;
    m_context = flipContext(config, flip.id);
    if (before.size() < FlipEffect::kFewest && m_before.size() >= FlipEffect::kFewest) return join(flip);
    m_before = std::move(before);
    m_earlier = std::move(earlier);
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
    m_earlier.clear();
    m_row = 0;
}

std::optional<FlipReading> FlipMeter::read(const RunHistory& history) const {
    if (m_flips.empty()) return std::nullopt;
    std::vector<StepSample> after;
    for (std::size_t row = m_row + FlipEffect::kWarmUp; row < history.rows() && after.size() < FlipEffect::kSteps; ++row)
        if (tells(history, row)) after.push_back(sample(history.steps(), row));
    const auto machine = machineSamples(history, timeOf(m_before).from);
    const bool over = history.state() && ended(history.state()->state);
    // What the machine did during the last steps is known half a second later.
    const bool seen = machine.empty() || over || machine.back().seconds >= timeOf(after).to;
    const bool complete = after.size() == FlipEffect::kSteps && seen;
    return FlipReading{m_flips, m_alone, measureFlip({m_before, std::move(after), m_earlier, machine}), complete, over, m_context};
}

}  // namespace stepscope
