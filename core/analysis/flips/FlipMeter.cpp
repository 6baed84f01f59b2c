#include "core/analysis/flips/FlipMeter.h"

#include <algorithm>

#include "core/analysis/flips/FlipContext.h"

namespace stepscope {
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
    std::size_t before = 0;
    for (std::size_t row = rows; row > from && before < FlipEffect::kFewest; --row) before += tellsOfFlips(history, row - 1) ? 1 : 0;
    m_row = rows;
    m_context = flipContext(config, flip.id);
    if (before < FlipEffect::kFewest && m_enoughBefore) return join(flip);
    m_enoughBefore = before >= FlipEffect::kFewest;
    m_from = from;
    m_first = rows;
    m_flips = {flip};
    m_alone = true;
}

void joinFlip(std::vector<SwitchApplied>& flips, const SwitchApplied& flip) {
    SwitchApplied whole = flip;
    const auto former = std::ranges::find(flips, flip.id, &SwitchApplied::id);
    if (former != flips.end()) {
        whole.from = former->from;
        flips.erase(former);
    }
    if (whole.from != whole.to) flips.push_back(whole);
    if (!flips.empty()) flips.back().step = flip.step;  // what follows is measured from here
}

void FlipMeter::join(const SwitchApplied& flip) {
    joinFlip(m_flips, flip);
    m_alone = false;
}

void FlipMeter::forget() {
    m_flips.clear();
    m_enoughBefore = false;
    m_row = 0;
}

std::optional<FlipReading> FlipMeter::read(const RunHistory& history) const {
    if (m_flips.empty()) return std::nullopt;
    FlipEffect effect = measureFlip(history, m_from, m_first, m_row + FlipEffect::kWarmUp, history.rows());
    const bool over = history.state() && ended(history.state()->state);
    // What the machine did during the last steps is known half a second later.
    const bool complete = effect.stepsAfter == FlipEffect::kSteps && (over || effect.machineSeen);
    return FlipReading{m_flips, m_alone, std::move(effect), complete, over, m_context};
}

}  // namespace stepscope
