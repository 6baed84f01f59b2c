#include "core/train/workers/ClockExchange.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/program/DataParallel.h"
#include "core/trace/WorkerClocks.h"

namespace stepscope {
namespace {

constexpr double kLatestStamp = 9e15;  // ns, a hundred days: whole numbers up to there are exact

// Said by another process.
std::int64_t stampOf(double said) {
    return std::isfinite(said) ? static_cast<std::int64_t>(std::clamp(said, -kLatestStamp, kLatestStamp)) : 0;
}

}  // namespace

void ClockExchange::exchange() {
    if (m_others == nullptr) return;
    std::vector<std::vector<std::int64_t>> stamps;
    for (int gather = 0; gather < kGathers; ++gather) {
        auto& row = stamps.emplace_back();
        for (const double said : m_others->gather({static_cast<double>(m_clock->now().ns)})) row.push_back(stampOf(said));
    }
    WorkerClocks found{.at = m_clock->now().ns, .readings = clockReadings(stamps)};
    m_newest = TimeNs{found.at};
    m_clocks.resize(found.readings.size());
    for (std::size_t worker = 0; worker < m_clocks.size(); ++worker) m_clocks[worker].add(found.readings[worker]);
    if (m_others->rank() == 0) m_sink->publishChunk(std::make_shared<const Chunk>(encodeWorkerClocks(found)));
}

bool ClockExchange::due() const {
    return m_others != nullptr && m_clock->now() - m_newest >= kEvery;
}

ClockLine ClockExchange::over(int worker, std::int64_t from, std::int64_t to) const {
    const auto place = static_cast<std::size_t>(worker);
    return place < m_clocks.size() ? m_clocks[place].over(from, to) : WorkerClock().over(from, to);
}

}  // namespace stepscope
