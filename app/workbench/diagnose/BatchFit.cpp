#include "app/workbench/diagnose/BatchFit.h"

namespace stepscope {

std::int64_t largestBatchThatFits(const Registry& registry, RunPlan plan, DataIds ids, std::int64_t most, double margin) {
    const auto fits = [&](std::int64_t batch) {
        plan.batchSize = batch;
        const Workbench::Estimate needed = estimateMemory(registry, plan, ids);
        return static_cast<double>(needed.tensors.count) <= (1 - margin) * static_cast<double>(needed.available.count);
    };
    if (!fits(1)) return 0;
    std::int64_t good = 1, bad = 2;
    while (bad <= most && fits(bad)) good = bad, bad *= 2;
    if (bad > most) {
        if (good == most || fits(most)) return most;
        bad = most;
    }
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good;
}

}  // namespace stepscope
