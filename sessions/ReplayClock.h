// ReplayClock: what time it is in a replayed session: real time since the last change, times the speed. Pure arithmetic; the
// replayer guards it.
#pragma once
#include <chrono>

#include "core/base/Units.h"

namespace stepscope {

class ReplayClock {
public:
    using Real = std::chrono::steady_clock::time_point;

    TimeNs now() const;
    Real realTimeOf(TimeNs at) const;  // when it will be `at`, at this speed

    void set(TimeNs at);  // it is `at` now; to be called before either of the next two, which do not look at the time
    void run(bool running) { m_running = running; }
    bool endless() const;          // everything is due at once: there is no time between two events
    void setSpeed(double factor);  // infinity: everything is due at once; what is not above zero is taken as 1

private:
    bool m_running = false;
    double m_speed = 1;
    TimeNs m_anchor;  // the session's time at m_since
    Real m_since;
};

}  // namespace stepscope
