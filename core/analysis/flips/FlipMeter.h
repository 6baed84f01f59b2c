// Watches the steps after a live flip until what it did can be said: up to 20 steps on either side, the first 5 after a flip left out
// and every disturbed or skipped one, as in stored sessions.
// A second flip takes the first one's place where there are steps enough between them to compare it with; else both are measured together,
// against the steps before the first. Owned by the window's FlipWiring; not synchronised.
#pragma once
#include <optional>

#include "core/analysis/RunHistory.h"
#include "core/analysis/flips/FlipEffect.h"

namespace stepscope {

struct FlipReading {
    std::vector<SwitchApplied> flips;  // what lies between the two sides, the newest last; never empty
    bool alone = true;                 // one flip: only then is the effect that of its switch
    FlipEffect effect;
    bool complete = false;  // all steps around it that will be looked at are there
    bool over = false;      // no more steps will come: the run has ended
    std::string context;    // flipContext() of the newest flip
};

// Flips that are measured together: those of one switch become one, from its first value to its last; there and back is none.
void joinFlip(std::vector<SwitchApplied>& flips, const SwitchApplied& flip);

class FlipMeter {
public:
    void flipped(const RunHistory& history, const SwitchApplied& flip);  // just now: the history has it already
    // As if it had been told of every flip of this history when it was made: after a replay jumped back.
    void catchUp(const RunHistory& history);
    void forget();  // another run begins
    // The newest flip, and what is measured with it, as far as it is; nothing where nothing was flipped, or only there and back.
    std::optional<FlipReading> read(const RunHistory& history) const;

private:
    void take(const RunHistory& history, std::size_t rows, const RunConfig& config, const SwitchApplied& flip);
    void join(const SwitchApplied& flip);

    std::vector<SwitchApplied> m_flips;
    bool m_alone = true;
    bool m_enoughBefore = false;
    std::string m_context;
    std::size_t m_from = 0, m_first = 0;  // the steps before the first of them
    std::size_t m_row = 0;                // first row after the newest
};

}  // namespace stepscope
