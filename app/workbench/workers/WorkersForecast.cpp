#include "app/workbench/workers/WorkersForecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "core/events/Phase.h"
#include "core/optimizations/registry/Registry.h"
#include "sessions/SessionStore.h"

namespace stepscope {
namespace {

constexpr double kNs = 1e-9;

// Of the worker that works longest: the others wait for it.
std::size_t longest(const std::vector<double>& work) {
    std::size_t slow = work.size();
    for (std::size_t worker = 0; worker < work.size(); ++worker)
        if (std::isfinite(work[worker]) && (slow == work.size() || work[worker] > work[slow])) slow = worker;
    return slow;
}

}  // namespace

Result<WorkersForecast> forecastWorkers(const std::string& database, std::int64_t session, const WorkerMap& map,
                                        const std::vector<std::int64_t>& numbers, const Link& assumed) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    const auto info = (*reader)->info(session);
    if (!info) return info.error();
    WorkersForecast forecast{.workers = map.workers()};
    const auto cannot = [&](std::string why) {
        forecast.whyNot = std::move(why);
        return forecast;
    };
    const std::vector<double> work = map.means(WorkerMap::kWork), backward = map.means(toString(Phase::Backward)), step = map.means();
    const std::size_t slow = longest(work);
    if (map.workers() < 2 || slow == work.size() || !info->config || !info->machine)
        return cannot("Other numbers of workers are foretold from a run of two or more.");
    const Registry registry(*info->machine, static_cast<int>(map.workers()));
    const auto config = registry.complete(*info->config);
    if (!config) return config.error();
    const auto plan = registry.plan(*config, info->vocabulary);
    if (!plan) return plan.error();
    if (plan->momentShares > 1)
        return cannot("Other numbers of workers are not foretold of a run that deals out its moments: that changes with their number, too.");
    const Link measured = linkOf(info->link, map.workers());
    forecast.link = measured;
    if (std::isfinite(assumed.latency)) forecast.link.latency = assumed.latency;
    if (std::isfinite(assumed.bytesPerSecond)) forecast.link.bytesPerSecond = assumed.bytesPerSecond;
    forecast.assumed = std::isfinite(assumed.latency) || std::isfinite(assumed.bytesPerSecond);
    if (!forecast.link.known())
        return cannot(
            info->link.empty()
                ? "Other numbers of workers are not foretold: how fast these add up gradients was not measured in this session."
                : "Other numbers of workers are not foretold: when it was measured how fast these add up gradients, more bytes took less time, "
                  "as beside other programs; train once more, or name a network (--latency-us, --gbit).");
    const bool halves = plan->sums == SumPrecision::Bf16;
    const WorkerStep one{.work = kNs * work[slow],
                         .backward = kNs * backward[slow] / static_cast<double>(std::max<std::int64_t>(1, plan->accumulation)),
                         .gradientBytes = info->parameters * static_cast<std::int64_t>(halves ? sizeof(std::uint16_t) : sizeof(float)),
                         .bucketBytes = halves ? kGradientBucket / 2 : kGradientBucket,
                         .tokens = plan->batchSize * plan->context * plan->accumulation};
    forecast.measuredSeconds = kNs * step[slow];
    if (measured.known()) forecast.modelSeconds = predictWorkers(one, measured, map.workers()).seconds;
    for (const std::int64_t number : numbers) forecast.predictions.push_back(predictWorkers(one, forecast.link, number));
    return forecast;
}

std::string forecastWords(const WorkersForecast& forecast) {
    if (!forecast.whyNot.empty()) return forecast.whyNot;
    std::string words = fmt::format("Predicted, not measured, were each on cores of its own and joined {}:",
                                    forecast.assumed ? "by the network that was named" : "as these are");
    for (std::size_t i = 0; i < forecast.predictions.size(); ++i) {
        const WorkersPrediction& one = forecast.predictions[i];
        words += fmt::format("{} {} workers {:.3g} times the tokens/s of one", i == 0 ? "" : ",", one.workers, one.times);
    }
    words += ".";
    if (forecast.modelSeconds > 0)
        words += fmt::format(" Of the {} of this run the same model says {} a step; it was {}.", forecast.workers,
                             format::milliseconds(1e3 * forecast.modelSeconds), format::milliseconds(1e3 * forecast.measuredSeconds));
    return words;
}

}  // namespace stepscope
