// A replay that jumps back. Every column is in order of time, so each is cut at one place.
#include <algorithm>
#include <cmath>

#include "core/analysis/RunHistory.h"

namespace stepscope {
namespace {

void cutSteps(StepColumns& steps, std::size_t rows) {
    steps.step.resize(rows);
    steps.tokens.resize(rows);
    steps.seconds.resize(rows);
    steps.joules.resize(rows);
    steps.smoothedLoss.cut(rows);
    for (Column* column :
         {&steps.loss, &steps.learningRate, &steps.gradientNorm, &steps.lossScale, &steps.stepMs, &steps.tokensPerSecond, &steps.rateP10,
          &steps.rateP50, &steps.rateP90, &steps.residentBytes, &steps.peakBytes, &steps.pageFaults, &steps.operations})
        column->cut(rows);
    for (SumColumn& phase : steps.phaseMs) phase.cut(rows);
    for (SumColumn* column : {&steps.otherMs, &steps.skipped, &steps.disturbed}) column->cut(rows);
}

void cutDevice(DeviceColumns& device, std::size_t rows) {
    device.place.resize(rows);
    for (Column* column : {&device.cpuPct, &device.othersPct, &device.stealPct, &device.throttledPct, &device.residentBytes, &device.availableBytes,
                           &device.gpuPct, &device.gpuMemoryBytes, &device.cpuPowerW, &device.gpuPowerW})
        column->cut(rows);
}

}  // namespace

void RunHistory::rewind(TimeNs to, const StandingEvents& standing) {
    if (!m_info) return;
    const double end = to.seconds();
    const auto later = [end](const RunPlace& place) { return place.seconds > end; };
    cutSteps(m_steps, static_cast<std::size_t>(std::ranges::upper_bound(m_steps.seconds, end) - m_steps.seconds.begin()));
    cutDevice(m_device, static_cast<std::size_t>(std::ranges::upper_bound(m_device.place, end, {}, &RunPlace::seconds) - m_device.place.begin()));

    m_rates.reset();
    for (std::size_t row = rows() - std::min(rows(), kRateWindow); row < rows(); ++row) m_rates.add(m_steps.tokensPerSecond[row]);

    std::erase_if(m_validation, [&](const ValidationPoint& point) { return later(point.place); });
    m_validationTime = {};
    for (const ValidationPoint& point : m_validation) m_validationTime += point.duration;

    m_state = standing.state;
    m_preparing = rows() > 0 ? std::nullopt : standing.preparing;
    m_text = standing.text;
    // What a range test suggests is said at its end, at an earlier place.
    const bool over = m_state && ended(m_state->state);
    m_markers.eraseIf([&](const Marker& marker) { return marker.at > to || (marker.kind == Marker::Kind::Suggestion && !over); });

    while (!m_turns.empty() && m_turns.back().at > to) m_turns.pop_back();
    while (!m_judged.empty() && m_judged.back().began > to) m_judged.pop_back();
    if (!m_judged.empty() && m_judged.back().judged.at > to) m_judged.back().judged = {};
    m_measuring = false;
    while (!m_flips.empty() && m_flips.back().flip.at > to) m_flips.pop_back();
    m_config = m_info->config.value_or(RunConfig{});
    for (const FlippedSwitch& flipped : m_flips) m_config.switches[flipped.flip.id] = flipped.flip.to;

    m_latest = m_state ? m_state->at : TimeNs{};
    const auto reach = [this](double seconds) { m_latest = std::max(m_latest, TimeNs{std::llround(seconds * 1e9)}); };
    if (rows() > 0) reach(m_steps.seconds.back());
    if (!m_device.place.empty()) reach(m_device.place.back().seconds);
    for (const Marker& marker : m_markers) m_latest = std::max(m_latest, marker.at);
}

}  // namespace stepscope
