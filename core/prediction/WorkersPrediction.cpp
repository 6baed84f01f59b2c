#include "core/prediction/WorkersPrediction.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

constexpr double kAgreements = 2;  // gathered numbers a step: the losses, and what each wants next

}  // namespace

bool Link::known() const {
    return std::isfinite(latency) && latency >= 0 && bytesPerSecond > 0 && !std::isnan(bytesPerSecond);
}

double sumSeconds(const Link& link, double bytes, std::int64_t workers) {
    const auto all = static_cast<double>(workers);
    return workers < 2 ? 0 : 2 * (all - 1) * (link.latency + bytes / all / link.bytesPerSecond);
}

// Of a message y = latency + x / bytesPerSecond, x its bytes. Relative errors: else the largest sum alone would say what the latency is.
Link linkOf(const std::vector<LinkTime>& times, std::int64_t workers) {
    if (workers < 2) return {};
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    std::int64_t least = 0, most = 0;
    for (const LinkTime& time : times) {
        if (!(time.seconds > 0) || time.bytes < 1) continue;
        const double x = static_cast<double>(time.bytes) / static_cast<double>(workers);
        const double y = time.seconds / (2 * static_cast<double>(workers - 1));
        const double weight = 1 / (y * y);
        w += weight;
        wx += weight * x;
        wxx += weight * x * x;
        wy += weight * y;
        wxy += weight * x * y;
        least = least == 0 ? time.bytes : std::min(least, time.bytes);
        most = std::max(most, time.bytes);
    }
    if (least == most) return {};
    double slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    double latency = (wy - slope * wx) / w;
    // No message takes less than no time.
    if (latency < 0) {
        latency = 0;
        slope = wxy / wxx;
    }
    return slope > 0 && std::isfinite(slope) && std::isfinite(latency) ? Link{.latency = latency, .bytesPerSecond = 1 / slope} : Link{};
}

WorkersPrediction predictWorkers(const WorkerStep& step, const Link& link, std::int64_t workers) {
    WorkersPrediction told{.workers = workers};
    if (workers > 1) {
        const auto all = static_cast<double>(step.gradientBytes), bucket = static_cast<double>(std::max<std::int64_t>(1, step.bucketBytes));
        double done = 0;
        for (double handed = 0; handed < all;) {
            const double bytes = std::min(bucket, all - handed);
            handed += bytes;
            done = std::max(done, step.backward * handed / all) + sumSeconds(link, bytes, workers);
        }
        // A gathered number goes once round the ring.
        told.waiting = std::max(0.0, done - step.backward) + kAgreements * static_cast<double>(workers - 1) * link.latency;
    }
    told.seconds = step.work + told.waiting;
    told.tokensPerSecond = static_cast<double>(step.tokens * workers) / told.seconds;
    told.times = static_cast<double>(workers) * step.work / told.seconds;
    return told;
}

}  // namespace stepscope
