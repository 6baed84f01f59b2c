// How long a run of these settings will take, from what this machine's stored sessions needed for a step of the same shape under the same
// switches from its first step to its last, by one process. Nothing is guessed: without such a session nothing is said. Pure function.
#pragma once
#include <QString>
#include <vector>

#include "core/events/RunConfig.h"
#include "widgets/panels/sessions/SessionsModel.h"

namespace stepscope {

struct TimeForecast {
    QString sentence;  // "about 02:11 for 2 000 steps of 65.1 ms"
    QString source;    // which session says so, or what to do
    bool known = false;
};
TimeForecast forecastTime(const RunConfig& config, const SessionsModel& sessions);

}  // namespace stepscope
