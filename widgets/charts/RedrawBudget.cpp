#include "widgets/charts/RedrawBudget.h"

#include <algorithm>
#include <ctime>

namespace stepscope {
namespace {

constexpr double kFullBucketNs = 60e6;    // a changed axis may redraw all six charts one after the other
constexpr double kDeepestDebtNs = -20e6;  // while training a second's worth: after a hand on the charts they stand still no longer

}  // namespace

TimeNs threadTime() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec};
}

void RedrawBudget::refill(TimeNs now) {
    m_credit = std::min(kFullBucketNs, m_credit + m_share * static_cast<double>((now - m_refilled).ns));
    m_refilled = now;
}

bool RedrawBudget::allows(TimeNs now) {
    refill(now);
    return m_credit >= 0 || now < m_hurryUntil;
}

void RedrawBudget::spent(TimeNs now, TimeNs cost) {
    refill(now);
    m_credit = std::max(kDeepestDebtNs, m_credit - static_cast<double>(cost.ns));
    m_longest = std::max(m_longest, cost);
    m_total += cost;
}

}  // namespace stepscope
