// How events become columns. What is asked of them is in RunHistoryQueries.cpp.
#include "core/analysis/RunHistory.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/LrRange.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/analysis/flips/StepSample.h"
#include "core/events/Event.h"

namespace stepscope {

namespace {

// Of whatever is known of it; nothing where neither is. A stranger's file may hold any number.
double wattsOf(double processors, double gpus) {
    static constexpr double kMost = 1e6;
    const auto known = [](double watts) { return watts > 0 ? std::min(watts, kMost) : 0.0; };
    return known(processors) + known(gpus);
}

}  // namespace

void RunHistory::append(const Event& event) {
    std::visit(Visitor{
                   [&](const SessionStarted& e) { start(e); },
                   [&](const StepDone& e) { addStep(e); },
                   [&](const ValidationDone& e) {
                       const RunPlace place = placeNow(e.step, e.at);
                       m_validation.push_back({place, e.loss, e.duration});
                       m_validationTime += e.duration;
                       addMarker({Marker::Kind::Validation, place, "validation", "Validation after step " + std::to_string(e.step) + "."}, e.at);
                   },
                   [&](const SwitchApplied& e) { addSwitch(e); },
                   [](const SwitchRefused&) {},
                   [&](const DeviceSample& e) { addDeviceSample(e); },
                   [](const LogLine&) {},
                   [&](const StateChanged& e) {
                       m_state = e;
                       m_latest = std::max(m_latest, e.at);
                       if (ended(e.state)) m_measuring = false;
                       if (ended(e.state) && rangeTest()) markSuggestion();
                   },
                   [&](const CheckpointSaved& e) {
                       addMarker({Marker::Kind::Checkpoint, placeNow(e.step, e.at), "checkpoint",
                                  "Checkpoint after step " + std::to_string(e.step) + ": " + e.path},
                                 e.at);
                   },
                   [&](const TextGenerated& e) { m_text = e; },
                   [&](const Preparing& e) { m_preparing = e; },
                   [](const RecorderWaited&) {},
                   [](const CaptureDone&) {},
                   [&](const ExperimentBegan& e) { addBegan(e); },
                   [&](const BlockDone& e) { addBlock(e); },
                   [&](const ExperimentJudged& e) { addJudged(e); },
                   [](const StudyBegan&) {},
                   [](const StudyRow&) {},
               },
               event);
}

void RunHistory::start(const SessionStarted& event) {
    *this = RunHistory();
    m_info = event.info ? event.info : std::make_shared<const SessionInfo>();
    m_session = event.session;
    m_replay = event.replay;
    m_config = m_info->config.value_or(RunConfig{});
}

void RunHistory::addStep(const StepDone& event) {
    m_preparing.reset();
    m_latest = std::max(m_latest, event.at);
    const RunPlace before = last();
    // Every x axis is searched by bisection: places may stand still, never go back.
    m_steps.step.push_back(std::max(event.step, static_cast<std::int64_t>(before.step)));
    const std::int64_t trained = m_steps.step.empty() ? tokensBefore(m_info.get(), event.tokens) : static_cast<std::int64_t>(before.tokens);
    m_steps.tokens.push_back(trained + event.tokens);
    m_steps.seconds.push_back(std::max(event.at.seconds(), before.seconds));
    m_steps.joules.push_back(std::max(joulesAt(m_steps.seconds.back()), before.joules));

    const double ms = event.duration.ns > 0 ? event.duration.milliseconds() : kUnknown;  // of an import whose log has no times
    const double rate = ms > 0 && event.tokens > 0 ? static_cast<double>(event.tokens) * 1000 / ms : kUnknown;
    m_steps.loss.append(event.loss);
    m_steps.smoothedLoss.append(event.loss);
    m_steps.learningRate.append(event.learningRate);
    m_steps.gradientNorm.append(event.gradientNorm);
    m_steps.lossScale.append(event.lossScale);
    m_steps.stepMs.append(ms);
    m_steps.tokensPerSecond.append(rate);
    m_rates.add(m_steps.tokensPerSecond.back());  // as the column holds it, so that a rewind finds the same
    m_steps.rateP10.append(m_rates.quantile(0.1));
    m_steps.rateP50.append(m_rates.quantile(0.5));
    m_steps.rateP90.append(m_rates.quantile(0.9));
    for (std::size_t phase = 0; phase < kPhases; ++phase) m_steps.phaseMs[phase].append(static_cast<double>(event.phaseNs[phase]) / 1e6);
    const auto inPhases = std::accumulate(event.phaseNs.begin(), event.phaseNs.end(), std::int64_t{0});
    m_steps.otherMs.append(static_cast<double>(std::max<std::int64_t>(0, event.duration.ns - inPhases)) / 1e6);
    m_steps.residentBytes.append(event.residentBytes > 0 ? static_cast<double>(event.residentBytes) : kUnknown);
    m_steps.pageFaults.append(static_cast<double>(event.pageFaults));
    m_steps.peakBytes.append(event.peakBytes);
    m_steps.operations.append(event.operations);
    m_steps.skipped.append(event.skipped ? 1 : 0);
    m_steps.disturbed.append(event.disturbed ? 1 : 0);
}

void RunHistory::addDeviceSample(const DeviceSample& event) {
    m_latest = std::max(m_latest, event.at);
    RunPlace place = last();
    place.seconds = event.at.seconds();
    place.joules = 0;
    if (!m_device.place.empty()) {
        const RunPlace& before = m_device.place.back();
        place.seconds = std::max(place.seconds, before.seconds);
        place.joules = before.joules + wattsOf(event.cpuPowerW, event.gpuPowerW) * (place.seconds - before.seconds);
    }
    m_device.place.push_back(place);
    m_device.cpuPct.append(event.cpuPct);
    m_device.othersPct.append(event.othersPct);
    m_device.stealPct.append(event.stealPct);
    m_device.throttledPct.append(event.throttledPct);
    m_device.residentBytes.append(event.residentBytes > 0 ? static_cast<double>(event.residentBytes) : kUnknown);
    m_device.availableBytes.append(event.availableBytes > 0 ? static_cast<double>(event.availableBytes) : kUnknown);
    m_device.gpuPct.append(event.gpuPct);
    m_device.gpuMemoryBytes.append(event.gpuMemoryBytes);
    m_device.cpuPowerW.append(event.cpuPowerW);
    m_device.gpuPowerW.append(event.gpuPowerW);
}

void RunHistory::addSwitch(const SwitchApplied& event) {
    m_config.switches[event.id] = event.to;
    m_flips.push_back({event, rows()});
    if (event.from == event.to) return;
    addMarker({Marker::Kind::Switch, placeNow(event.step, event.at), event.id + " " + toString(event.to), {}, m_flips.size() - 1}, event.at);
}

void RunHistory::addBlock(const BlockDone& event) {
    if (event.steps <= 0 || event.step < event.steps) return;
    if (!m_turns.empty() && event.step < m_turns.back().lastStep) return;  // they are looked up by bisection
    m_turns.push_back({event.step - event.steps + 1, event.step, event.at, event.arm, event.pair >= 0});
}

void RunHistory::addBegan(const ExperimentBegan& event) {
    m_measuring = true;
    JudgedTurns turns;
    turns.began = event.at;
    turns.flips = m_flips.size();
    turns.delta = event.delta;
    turns.sides = sidesInWords(event);
    if (auto found = turnsOf(event.configA, event.configB)) {
        turns.id = std::move(found->id);
        turns.from = std::move(found->from);
        turns.to = std::move(found->to);
    }
    m_judged.push_back(std::move(turns));
}

void RunHistory::addJudged(const ExperimentJudged& event) {
    if (!event.over) return;
    m_measuring = false;
    if (!m_judged.empty() && !m_judged.back().judged.over) m_judged.back().judged = event;
    // Of an experiment that stands alone there is no run to mark.
    if (rows() == 0) return;
    addMarker({Marker::Kind::Measured, placeNow(event.step, event.at), "measured", saidOf(event)}, event.at);
}

std::string RunHistory::saidOf(const ExperimentJudged& judged) const {
    if (m_judged.empty()) return judgedSentence(judged);
    return judgedSentence(judged, m_judged.back().delta, m_judged.back().sides);
}

RunPlace RunHistory::placeNow(std::int64_t step, TimeNs at) const {
    RunPlace place = last();
    place.step = static_cast<double>(step);
    place.seconds = at.seconds();
    place.joules = std::max(joulesAt(place.seconds), place.joules);
    return place;
}

// Between two samples nobody knows: as much a second as the newest one told. Where the next tells of less, steps stand still until it is caught up.
double RunHistory::joulesAt(double seconds) const {
    if (m_device.place.empty()) return 0;
    const RunPlace& newest = m_device.place.back();
    if (newest.joules <= 0) return 0;  // the first sample tells of a time before the session
    return newest.joules + wattsOf(m_device.cpuPowerW.back(), m_device.gpuPowerW.back()) * std::max(0.0, seconds - newest.seconds);
}

void RunHistory::addMarker(Marker marker, TimeNs at) {
    m_latest = std::max(m_latest, at);
    marker.at = at;
    m_markers.add(std::move(marker));
}

// At a place of the past. Once: a stranger's session may end as often as it likes.
void RunHistory::markSuggestion() {
    if (m_markers.count(Marker::Kind::Suggestion) > 0) return;
    std::vector<LrRangePoint> points;
    for (std::size_t row = 0; row < rows(); ++row) points.push_back({m_steps.learningRate[row], m_steps.loss[row]});
    const auto range = readLrRange(points);
    if (!range) return;
    const RunPlace there = place(range->suggestedAt);
    m_markers.insert({Marker::Kind::Suggestion, there, fmt::format("lr {:.2g} suggested", range->suggestion), sentenceOf(range), 0,
                      TimeNs::fromSeconds(there.seconds)});
}

}  // namespace stepscope
