// Watches the steps after a live flip until what it did can be said: up to 20 steps on either side, the first 5 after a flip left out
// and every disturbed or skipped one, as in stored sessions.
// One flip at a time: a second one within the measured steps takes the first one's place. GUI thread; fed by FlipWiring.
#pragma once
#include "core/analysis/FlipEffect.h"
#include "core/analysis/RunHistory.h"

#include <optional>

namespace stepscope {

struct FlipReading {
    SwitchApplied flip;
    FlipEffect effect;
    bool complete = false;  // all steps that will be looked at are there
};

class FlipMeter {
public:
    void flipped(const RunHistory& history, const SwitchApplied& flip);
    void forget();  // another run begins
    // The newest flip as far as it is measured; nothing where nothing was flipped.
    std::optional<FlipReading> read(const RunHistory& history) const;

private:
    std::optional<SwitchApplied> m_flip;
    std::vector<StepSample> m_before;
    std::size_t m_row = 0;  // first row after the flip
};

}  // namespace stepscope
