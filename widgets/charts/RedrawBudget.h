// RedrawBudget: decides when a chart may be redrawn, so that the open window never takes training's cores. A bucket fills
// with the allowed share of one core and is emptied by what redrawing was measured to cost; at most one chart a tick.
// Owned by LivePage, GUI thread; pure arithmetic, the caller brings the clock.
#pragma once
#include "core/base/Units.h"

namespace stepscope {

// What this thread has had of a core so far. Not the wall clock: waiting for a core that training holds costs nobody anything.
TimeNs threadTime();

class RedrawBudget {
public:
    static constexpr double kTrainingShare = 0.012;  // of one core, while a run wants the machine: with the feed's own work below 2 % on a busy one
    static constexpr double kIdleShare = 0.25;       // replay, or nothing running
    static constexpr TimeNs kLongestPaint{10'000'000};

    void setShare(double share) { m_share = share; }
    // The person zooms or pans: until `until` redrawing answers at once, whatever the share.
    void hurry(TimeNs until) { m_hurryUntil = until; }

    bool allows(TimeNs now);              // asked once a tick
    void spent(TimeNs now, TimeNs cost);  // after each redraw or repaint; cost as threadTime() counts it
    TimeNs longest() const { return m_longest; }
    TimeNs total() const { return m_total; }

private:
    void refill(TimeNs now);

    double m_share = kIdleShare;
    double m_credit = 0;  // ns; may be negative: a debt is paid before the next redraw
    TimeNs m_refilled;
    TimeNs m_hurryUntil;
    TimeNs m_longest;
    TimeNs m_total;
};

}  // namespace stepscope
