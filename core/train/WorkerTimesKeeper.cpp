#include "core/train/WorkerTimesKeeper.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "core/program/DataParallel.h"
#include "core/train/workers/ClockExchange.h"

namespace stepscope {
namespace {

constexpr std::size_t kTimedColumns = kPhases + 1;  // the phases, and what belongs to none
constexpr double kLongestNs = 9e15;                 // a hundred days: whole numbers up to there are exact

}  // namespace

void WorkerTimesKeeper::add(const StepDone& done) {
    if (m_others == nullptr) return;
    const std::size_t times = static_cast<std::size_t>(m_others->size()) * kTimedColumns;  // of one step, of all: the same with each worker
    if (times > kMostTimes) return;
    m_steps.push_back({.number = done.step, .at = done.at.ns});
    for (const std::int64_t ns : done.phaseNs) m_own.push_back(static_cast<double>(ns));
    const auto inPhases = std::accumulate(done.phaseNs.begin(), done.phaseNs.end(), std::int64_t{0});
    m_own.push_back(static_cast<double>(std::max<std::int64_t>(0, done.duration.ns - inPhases)));
    if (m_steps.size() >= std::min(kStepsAtOnce, kMostTimes / times)) flush();
}

void WorkerTimesKeeper::flush() {
    if (m_others == nullptr || m_steps.empty()) return;
    auto own = std::exchange(m_own, {});
    own.push_back(m_clocks.due() ? 1 : 0);  // of the first one, with all: it is their last number
    WorkerTimes times;
    times.steps = std::exchange(m_steps, {});
    const auto all = m_others->gather(own);
    if (all[own.size() - 1] != 0) m_clocks.exchange();
    if (m_others->rank() != 0) return;
    for (std::size_t phase = 0; phase < kPhases; ++phase) times.phases.emplace_back(toString(static_cast<Phase>(phase)));
    times.phases.emplace_back("other");
    times.workers = m_others->size();
    times.ns.reserve(all.size());
    for (std::size_t step = 0; step < times.steps.size(); ++step)
        for (std::size_t worker = 0; worker < static_cast<std::size_t>(times.workers); ++worker)
            for (std::size_t column = 0; column < kTimedColumns; ++column) {
                const double ns = all[worker * own.size() + step * kTimedColumns + column];
                times.ns.push_back(ns > 0 ? static_cast<std::int64_t>(std::min(ns, kLongestNs)) : 0);
            }
    m_sink->publishChunk(std::make_shared<const Chunk>(encodeWorkerTimes(times)));
}

void WorkerTimesKeeper::finish() {
    try {
        flush();
    } catch (const WorkersApart&) {
        m_steps.clear();
    }
}

}  // namespace stepscope
