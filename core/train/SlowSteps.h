// SlowSteps: which steps of a run stand out. It is told how long each took, a Program at a time, and says which of them are beyond the 99th
// percentile of that Program's last thousand, once there are two hundred; and beside them what observing costs: the first steps of a Program are not
// observed, so that there is something to compare with. No clock, no threads.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/Units.h"

namespace stepscope {

class SlowSteps {
public:
    static constexpr std::int64_t kSettling = 5;     // steps of a Program that are not told of: they still prepare
    static constexpr std::int64_t kUnobserved = 20;  //   and those after them that are not observed
    static constexpr std::size_t kLeast = 200;       // observed steps before one can stand out
    static constexpr std::size_t kKnown = 1000;      // that its percentile is of

    void renew();  // another Program
    // Whether the next step is observed.
    bool observes() const { return m_made >= kSettling + kUnobserved; }
    // Of the step that was made. True: it stands out; the threshold is of those before it.
    bool add(TimeNs took);
    // One that something else disturbed, or that was not of these: it is counted as made, and that is all.
    void pass() { m_made += 1; }
    TimeNs threshold() const { return m_threshold; }  // 0: not known yet
    // The medians of the newest Program that has both, one in relation to the other: 0.03 is 3 % slower. Unknown: kUnknown.
    double cost() const;

private:
    std::int64_t m_made = 0;
    std::vector<std::int64_t> m_before;   // ns, not observed
    std::deque<std::int64_t> m_observed;  // ns, the newest kKnown
    TimeNs m_threshold;
    std::int64_t m_since = 0;  // steps, since it was worked out
};

}  // namespace stepscope
