// Metrics: every number that a run or an import stored of its steps, event by event, under the names that exports give them (CSV long and wide,
// TensorBoard). Never thinned out. Called by exporters, on a reader's thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "sessions/SessionStore.h"

namespace stepscope {

class MetricSink {
public:
    enum class Of { Step, Machine };  // what an update of the weights made, or what was measured of the machine meanwhile

    virtual ~MetricSink() = default;
    // Of which step, and when, the values that follow are: time since the session began, nothing where nobody knows it. What is of no step has the
    // number of the last one.
    virtual void at(std::int64_t step, std::optional<TimeNs> time, Of of) = 0;
    // Of a double that is unknown nothing is told.
    virtual void value(const char* metric, double value) = 0;
    virtual void value(const char* metric, std::int64_t value) = 0;
};

// Whether a metric of this name is measured of the machine, by the clock and not by the step.
bool isOfMachine(std::string_view metric);

// In the order in which it was stored. `page` is told after every few thousand events, and may end it by an error. BadInput: the session is no run
// and has no steps, so there is nothing to write as `what`.
Status forEachMetric(SessionReader& reader, std::int64_t session, const char* what, MetricSink& sink, const std::function<Status()>& page);

}  // namespace stepscope
