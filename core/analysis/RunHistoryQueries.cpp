// What charts, the cursor and the status line ask.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/RunHistory.h"
#include "core/analysis/Statistics.h"

namespace stepscope {

std::optional<JudgedTurns> RunHistory::turnsOfFlip(std::size_t flip) const {
    constexpr std::ptrdiff_t kMostLookedAt = 16;  // of one flip, the newest: people measure once or twice
    if (flip >= m_flips.size()) return std::nullopt;
    const SwitchApplied& made = m_flips[flip].flip;
    // Flips end a measurement, so what was measured after this flip and before the next one was measured with it. The newer one counts.
    for (const std::size_t before : {flip + 1, flip}) {
        // Two bounds: equal_range of ranges does not compile with Clang 14 and GCC's library, which the fuzzers are built with.
        const auto begin = std::ranges::lower_bound(m_judged, before, {}, &JudgedTurns::flips);
        const auto end = std::ranges::upper_bound(m_judged, before, {}, &JudgedTurns::flips);
        for (auto turns = end; turns != begin && end - turns < kMostLookedAt;) {
            --turns;
            const bool forth = turns->from == made.from && turns->to == made.to, back = turns->from == made.to && turns->to == made.from;
            const ExperimentJudged& judged = turns->judged;
            if (turns->id != made.id || !(forth || back) || !judged.over || judged.pairs <= 0) continue;
            if (judged.outcome.empty() || judged.outcome == toString(PairedOutcome::Inconclusive)) continue;
            if (!(judged.ratio > 0 && judged.low > 0) || !std::isfinite(judged.ratio) || !std::isfinite(judged.high)) continue;
            JudgedTurns said = *turns;
            if (!back) return said;
            std::swap(said.from, said.to);
            said.judged = turnedRound(std::move(said.judged));
            return said;
        }
    }
    return std::nullopt;
}

// Made when it is asked for: of a million flips nobody reads more than a few.
std::string RunHistory::detailOf(const Marker& marker) const {
    if (marker.kind != Marker::Kind::Switch || marker.flip >= m_flips.size()) return marker.detail;
    const SwitchApplied& flip = m_flips[marker.flip].flip;
    std::string detail = fmt::format("{}: {} \u2192 {} from step {} on.", flip.id, toString(flip.from), toString(flip.to), flip.step + 1);
    if (!flip.note.empty()) detail += " " + flip.note;
    return detail;
}

bool RunHistory::isFlipChosenByTurns(std::size_t flip) const {
    // The newest measurement that was begun with no more flips than those before it.
    const auto end = std::ranges::upper_bound(m_judged, flip, {}, &JudgedTurns::flips);
    if (flip >= m_flips.size() || end == m_judged.begin()) return false;
    const SwitchApplied& made = m_flips[flip].flip;
    const JudgedTurns& turns = *(end - 1);
    return turns.judged.over && turns.judged.outcome == toString(PairedOutcome::Faster) && turns.flips == flip && turns.id == made.id &&
           turns.from == made.from && turns.to == made.to;
}

RunPlace RunHistory::place(std::size_t row) const {
    return {static_cast<double>(m_steps.step[row]), static_cast<double>(m_steps.tokens[row]), m_steps.seconds[row], m_steps.learningRate[row],
            m_steps.joules[row]};
}

double RunHistory::x(XAxis axis, std::size_t row) const {
    switch (axis) {
        case XAxis::Step:
            return static_cast<double>(m_steps.step[row]);
        case XAxis::Tokens:
            return static_cast<double>(m_steps.tokens[row]);
        case XAxis::WallTime:
            return m_steps.seconds[row];
        case XAxis::Energy:
            return m_steps.joules[row];
        case XAxis::LearningRate:
            return m_steps.learningRate[row];
    }
    return 0;
}

std::size_t RunHistory::firstRowAt(XAxis axis, double x) const {
    std::size_t begin = 0, length = rows();
    while (length > 0) {
        const std::size_t half = length / 2;
        if (this->x(axis, begin + half) < x) {
            begin += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return begin;
}

std::size_t RunHistory::rowAt(XAxis axis, double x) const {
    const std::size_t right = std::min(firstRowAt(axis, x), rows() - 1);
    if (right == 0) return 0;
    return x - this->x(axis, right - 1) < this->x(axis, right) - x ? right - 1 : right;
}

RunPlace RunHistory::last() const {
    if (rows() > 0) return place(rows() - 1);
    return {m_info ? static_cast<double>(m_info->firstStep) : 0.0};
}

RunNumbers RunHistory::numbers(std::size_t window) const {
    RunNumbers numbers;
    numbers.steps = m_info && m_info->config ? m_config.steps : 0;  // of an import nobody said how many were to come
    numbers.step = static_cast<std::int64_t>(last().step);
    numbers.tokens = static_cast<std::int64_t>(last().tokens);
    numbers.elapsed = m_latest;
    if (numbers.steps > 0) numbers.fraction = std::clamp(static_cast<double>(numbers.step) / static_cast<double>(numbers.steps), 0.0, 1.0);
    if (!m_validation.empty()) numbers.validationLoss = m_validation.back().loss;
    if (!m_device.place.empty()) {
        numbers.cpuPct = m_device.cpuPct.back();
        numbers.gpuPct = m_device.gpuPct.back();
        if (const double bytes = m_device.residentBytes.back(); bytes > 0) numbers.residentBytes = static_cast<std::int64_t>(bytes);
        if (const double bytes = m_device.availableBytes.back(); bytes > 0) numbers.availableBytes = static_cast<std::int64_t>(bytes);
    }
    if (rows() == 0) return numbers;

    numbers.loss = m_steps.loss.back();
    numbers.smoothedLoss = m_steps.smoothedLoss.at(rows() - 1, CentredSmoothing::kHalf);
    numbers.learningRate = m_steps.learningRate.back();
    numbers.gradientNorm = m_steps.gradientNorm.back();

    // Steps before the last flip ran another Program: they say nothing about the speed of this one.
    std::size_t begin = rows() - std::min(window, rows());
    if (const std::size_t flips = m_markers.count(Marker::Kind::Switch); flips > 0) {
        const Marker& newest = m_markers[m_markers.nth(Marker::Kind::Switch, flips - 1)];
        begin = std::max(begin, std::min(firstRowAt(XAxis::Step, newest.place.step + 1), rows() - 1));
    }
    std::vector<double> ms, rates;
    ms.reserve(rows() - begin);
    rates.reserve(rows() - begin);
    for (std::size_t row = begin; row < rows(); ++row) {
        if (const double time = m_steps.stepMs[row]; std::isfinite(time)) ms.push_back(time);
        if (const double rate = m_steps.tokensPerSecond[row]; std::isfinite(rate)) rates.push_back(rate);
    }
    numbers.window = static_cast<std::int64_t>(ms.size());
    numbers.stepMsMedian = median(ms);
    numbers.stepMsP10 = quantile(ms, 0.1);
    numbers.stepMsP90 = quantile(ms, 0.9);
    numbers.tokensPerSecond = median(rates);
    const double validationPerStep = m_validationTime.seconds() / static_cast<double>(rows());
    const auto stepsLeft = static_cast<double>(std::max<std::int64_t>(0, numbers.steps - numbers.step));
    if (!m_state || !ended(m_state->state)) numbers.secondsLeft = stepsLeft * (numbers.stepMsMedian / 1000 + validationPerStep);
    return numbers;
}

}  // namespace stepscope
