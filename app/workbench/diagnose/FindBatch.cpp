#include "app/workbench/diagnose/FindBatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/workbench/MemoryNeed.h"
#include "app/workbench/diagnose/Advise.h"
#include "app/workbench/diagnose/BatchFit.h"
#include "app/workbench/diagnose/MachineTurn.h"
#include "app/workbench/diagnose/OpenBatches.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSettling = 2, kTimedSteps = 7;
constexpr double kFlat = 1.02;           // a doubling that wins less is none,
constexpr int kFlatDoublings = 2;        //   and after so many of them no more is won
constexpr double kShareOfBudget = 0.25;  // that the timed steps of one size may take

class Search {
public:
    Search(const Machine& machine, const FindBatchRequest& request, const LookProgress& progress, const std::atomic<bool>& cancelled)
        : m_registry(machine), m_request(request), m_progress(progress), m_cancelled(cancelled) {}

    Result<BatchSearch> run() {
        if (!(m_request.budgetSeconds >= kShortestSearch && m_request.budgetSeconds <= kLongestSearch))
            return makeError(ErrorCode::BadInput, fmt::format("The budget is {:g} seconds; it takes a number from {:g} to {:g}.",
                                                              m_request.budgetSeconds, kShortestSearch, kLongestSearch));
        if (auto fits = look(); !fits) return fits.error();
        if (auto done = climb(); !done) return done.error();
        m_found.knee = kneeOf(m_found.points);
        if (m_found.knee != m_found.now)
            if (const auto setting = settingFor(
                    m_registry, m_request.config, m_vocabulary, [knee = m_found.knee](const RunPlan& plan) { return plan.batchSize == knee; },
                    m_found.knee))
                m_found.setting = setting->first + "=" + setting->second;
        const auto rateOf = [&](std::int64_t batch) {
            const auto point = std::ranges::find(m_found.points, batch, &BatchPoint::batch);
            return point == m_found.points.end() ? kUnknown : point->tokensPerSecond;
        };
        m_found.gain = rateOf(m_found.knee) / rateOf(m_found.now);
        return std::move(m_found);
    }

private:
    double spent() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin).count(); }

    Status look() {
        auto plan = m_registry.plan(m_request.config);
        if (!plan) return plan.error();
        if (m_progress) m_progress("reading the data");
        const auto batches = openBatches(*plan, m_progress, m_cancelled);
        if (!batches) return batches.error();
        const Corpus& corpus = (*batches)->corpus();
        m_vocabulary = corpus.vocabulary;
        const DataIds ids(corpus.vocabulary, corpus.tokens->size());
        m_found.now = plan->batchSize;
        m_found.largestThatFits = largestBatchThatFits(m_registry, *plan, ids, m_request.most);
        if (m_found.largestThatFits > 0) return {};
        plan->batchSize = 1;
        return noBatchFits(*plan, estimateMemory(m_registry, *plan, ids));
    }

    // Doubling from 1, and the size of the settings on the way.
    std::vector<std::int64_t> sizes() const {
        std::vector<std::int64_t> all;
        for (std::int64_t batch = 1; batch <= m_found.largestThatFits; batch *= 2) all.push_back(batch);
        for (const std::int64_t also : {m_found.now, m_found.largestThatFits})
            if (also >= 1 && also <= m_found.largestThatFits) all.push_back(also);
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    Status climb() {
        int flat = 0;
        double best = 0;
        m_found.ended = "The largest that fits was timed.";
        for (const std::int64_t batch : sizes()) {
            // A step of twice the batch takes at most about twice as long: the next size would not fit the budget.
            if (!m_found.points.empty()) {
                const BatchPoint& last = m_found.points.back();
                const double next =
                    last.ms / 1e3 * static_cast<double>(batch) / static_cast<double>(last.batch) * static_cast<double>(kSettling + kFewestTimed);
                if (spent() + next > m_request.budgetSeconds) {
                    if (m_found.points.size() < 2)
                        return makeError(ErrorCode::BadInput,
                                         fmt::format("{:g} seconds are not enough to time two batch sizes; a larger budget is needed, about {:.0f}.",
                                                     m_request.budgetSeconds, std::ceil(2 * (spent() + next))));
                    m_found.ended = "The budget was spent before a larger one could be timed.";
                    return {};
                }
            }
            if (m_progress) m_progress(fmt::format("timing batches of {}", batch));
            const auto timing = timeSteps(m_registry.machine(),
                                          {.config = m_request.config,
                                           .warmUp = kSettling,
                                           .steps = kTimedSteps,
                                           .mostSeconds = kShareOfBudget * m_request.budgetSeconds,
                                           .batchSize = batch},
                                          {}, m_cancelled);
            if (!timing && timing.error().code == ErrorCode::OutOfMemory && !m_found.points.empty()) {
                m_found.ended = fmt::format("{} sequences were predicted to fit and did not.", batch);
                return {};
            }
            if (!timing) return timing.error();
            m_found.points.push_back({batch, timing->medianMs(), static_cast<double>(timing->tokens) / timing->medianMs() * 1e3, timing->peakBytes,
                                      timing->memory.tensors});
            const double rate = m_found.points.back().tokensPerSecond;
            flat = rate < kFlat * best ? flat + 1 : 0;
            best = std::max(best, rate);
            if (flat < kFlatDoublings || batch < m_found.now) continue;
            m_found.ended = "Larger ones stopped winning anything.";
            return {};
        }
        return {};
    }

    const Registry m_registry;
    const FindBatchRequest& m_request;
    const LookProgress& m_progress;
    const std::atomic<bool>& m_cancelled;
    const std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
    std::int64_t m_vocabulary = 0;
    BatchSearch m_found;
};

}  // namespace

Error noBatchFits(const RunPlan& plan, const Workbench::Estimate& needed) {
    const bool tokens = needed.tokens.count > 0;
    return makeError(
        ErrorCode::OutOfMemory,
        fmt::format("Not even one sequence of context {} fits with a tenth of the memory left free: it needs about {}{}, and {} are "
                    "available; lower context or the model's size{}.",
                    plan.context, format::bytes(needed.tensors), tokens ? fmt::format(" with all tokens ({})", format::bytes(needed.tokens)) : "",
                    format::bytes(needed.available), tokens ? ", or leave the tokens off the GPU" : ""));
}

std::int64_t kneeOf(const std::vector<BatchPoint>& points) {
    const double best = std::ranges::max(points, {}, &BatchPoint::tokensPerSecond).tokensPerSecond;
    return std::ranges::find_if(points, [&](const BatchPoint& point) { return point.tokensPerSecond >= kNearlyTheBest * best; })->batch;
}

Result<BatchSearch> findBatch(const Machine& machine, const FindBatchRequest& request, const LookProgress& progress,
                              const std::atomic<bool>& cancelled) {
    const LookTurn turn;
    if (!turn.taken())
        return makeError(ErrorCode::Unsupported, "Batch sizes cannot be timed while a run or an experiment goes on; wait for its end.");
    return Search(machine, request, progress, cancelled).run();
}

}  // namespace stepscope
