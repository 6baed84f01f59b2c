// How steps of a stored run become rows.
#include "core/analysis/overlay/OverlaidRun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/RunComparison.h"
#include "core/analysis/flips/StepSample.h"
#include "core/base/Check.h"

namespace stepscope {
namespace {

constexpr std::ptrdiff_t kMostMarked = 100'000;  // flips of a run, the newest

void take(double value, std::size_t& count, double& sum, double& low, double& high) {
    if (!std::isfinite(value)) return;
    low = count == 0 ? value : std::min(low, value);
    high = count == 0 ? value : std::max(high, value);
    sum += value;
    ++count;
}

void append(RowExtremes& column, bool several, std::size_t count, double sum, double low, double high) {
    column.low.append(count > 0 ? low : kUnknown);
    if (several) column.high.append(count > 0 ? high : kUnknown);
    column.smoothed.append(count > 0 ? sum / static_cast<double>(count) : kUnknown);
}

double percentWithin(double value) {
    return std::isfinite(value) ? std::clamp(value, 0.0, 100.0) : kUnknown;
}

}  // namespace

OverlaidRunBuilder::OverlaidRunBuilder(std::int64_t session, std::shared_ptr<const SessionInfo> info, std::size_t every)
    : m_run(std::make_shared<OverlaidRun>()) {
    SS_CHECK(every >= 1);
    m_run->session = session;
    m_run->every = every;
    m_run->info = info;
    m_facts.session = session;
    m_facts.info = std::move(info);
}

void OverlaidRunBuilder::expect(std::size_t steps) {
    for (auto* column : {&m_run->step, &m_run->tokens, &m_run->seconds}) column->reserve(steps / m_run->every + 1);
    for (auto* column : {&m_facts.steadyMs, &m_facts.steadyMsPerToken}) column->reserve(steps);
}

// Of a resumed run places go on where the other one ended.
void OverlaidRunBuilder::beginTokens(const OverlaidStep& first) {
    m_tokens = m_run->tokensBefore = static_cast<double>(tokensBefore(m_run->info.get(), first.tokens));
}

void OverlaidRunBuilder::add(const OverlaidStep& step) {
    // Every axis is searched by bisection: places may stand still, never go back.
    m_last.step = std::max(m_last.step, step.step);
    m_last.seconds = std::max(m_last.seconds, step.seconds);
    if (m_run->figures.steps == 0) beginTokens(step);
    m_tokens += static_cast<double>(std::max<std::int64_t>(0, step.tokens));
    const double ms = std::isfinite(step.ms) ? std::max(0.0, step.ms) : 0;
    m_row.ms += ms;
    take(step.loss, m_row.losses, m_row.loss, m_row.lossLow, m_row.lossHigh);
    take(step.gradientNorm, m_row.norms, m_row.norm, m_row.normLow, m_row.normHigh);
    m_row.rate = step.learningRate;
    if (std::isfinite(step.bytes)) {
        m_row.bytes = std::isfinite(m_row.bytes) ? std::max(m_row.bytes, step.bytes) : step.bytes;
        m_facts.peakBytes = std::isfinite(m_facts.peakBytes) ? std::max(m_facts.peakBytes, step.bytes) : step.bytes;
    }
    if (std::isfinite(step.loss)) {
        if (m_lastLosses.size() == kLossSteps) m_lastLosses.erase(m_lastLosses.begin());
        m_lastLosses.push_back(step.loss);
    }
    ++m_run->figures.steps;
    if (steps() > kWarmUpSteps && !step.disturbed && step.tokens > 0 && ms > 0) {
        m_facts.steadyMs.push_back(ms);
        m_facts.steadyMsPerToken.push_back(ms / static_cast<double>(step.tokens));
    }
    if (++m_row.steps == m_run->every) closeRow();
}

void OverlaidRunBuilder::addInPlaceOfMany(const OverlaidStep& step) {
    const auto every = static_cast<double>(m_run->every);
    if (m_run->figures.steps == 0) beginTokens(step);
    const double made = m_run->sketch ? static_cast<double>(std::max<std::int64_t>(0, step.step - m_last.step)) : 1;
    m_run->sketch = true;
    m_last.step = std::max(m_last.step, step.step);
    m_last.seconds = std::max(m_last.seconds, step.seconds);
    m_tokens += made * static_cast<double>(std::max<std::int64_t>(0, step.tokens));
    m_row.ms = every * (std::isfinite(step.ms) ? std::max(0.0, step.ms) : 0);
    take(step.loss, m_row.losses, m_row.loss, m_row.lossLow, m_row.lossHigh);
    take(step.gradientNorm, m_row.norms, m_row.norm, m_row.normLow, m_row.normHigh);
    m_row.rate = step.learningRate;
    m_row.bytes = step.bytes;
    m_row.steps = m_run->every;
    m_run->figures.steps += static_cast<std::int64_t>(m_run->every);
    closeRow();
}

void OverlaidRunBuilder::closeRow() {
    if (m_row.steps == 0) return;
    const bool several = m_run->every > 1;
    m_run->step.push_back(static_cast<double>(m_last.step));
    m_run->tokens.push_back(m_tokens);
    m_run->seconds.push_back(m_last.seconds);
    append(m_run->loss, several, m_row.losses, m_row.loss, m_row.lossLow, m_row.lossHigh);
    append(m_run->gradientNorm, several, m_row.norms, m_row.norm, m_row.normLow, m_row.normHigh);
    m_run->learningRate.append(m_row.rate);
    m_run->bytes.append(m_row.bytes);
    m_run->ms.append(m_row.ms);
    m_row = {};
}

void OverlaidRunBuilder::addSample(const DeviceSample& sample) {
    m_facts.othersPct.push_back(sample.othersPct);
    m_facts.stealPct.push_back(sample.stealPct);
    m_facts.throttledPct.push_back(sample.throttledPct);
    m_facts.gpuClockMhz.push_back(sample.gpuClockMhz);
    m_facts.cpuClockMhz.push_back(sample.cpuClockMhz);
    m_run->ofGpu = m_run->ofGpu || std::isfinite(sample.gpuPct);
    m_samples.push_back(sample);
}

void OverlaidRunBuilder::addFlip(const SwitchApplied& flip) {
    if (flip.from == flip.to) return;
    ++m_facts.flips;
    stepscope::addFlip(m_run->flipped, flip);
    m_flips.push_back(flip);
    // Up to twenty runs are laid over each other, and strangers' may hold a million each.
    if (std::ssize(m_flips) >= 2 * kMostMarked) m_flips.erase(m_flips.begin(), m_flips.end() - kMostMarked);
}

std::shared_ptr<const OverlaidRun> OverlaidRunBuilder::finish() {
    closeRow();
    OverlaidRun& run = *m_run;
    const auto placeAt = [&](double seconds) {
        if (run.rows() == 0) return RunPlace{0, 0, seconds};
        const auto after = std::ranges::upper_bound(run.seconds, seconds);
        if (after == run.seconds.begin()) return RunPlace{std::max(0.0, run.step[0] - 1), 0, seconds};
        const auto row = static_cast<std::size_t>(after - run.seconds.begin()) - 1;
        return RunPlace{run.step[row], run.tokens[row], seconds};
    };
    double latest = 0;
    for (const DeviceSample& sample : m_samples) {
        latest = std::max(latest, sample.at.seconds());
        run.samplePlaces.push_back(placeAt(latest));
        run.utilisation.append(percentWithin(run.ofGpu ? sample.gpuPct : sample.cpuPct));
    }
    std::ranges::stable_sort(m_flips, {}, &SwitchApplied::step);
    for (const SwitchApplied& flip : m_flips) {
        RunPlace place = placeAt(flip.at.seconds());
        place.step = static_cast<double>(flip.step);
        std::string detail =
            fmt::format("Session {}: {}: {} \u2192 {} from step {} on.", run.session, flip.id, toString(flip.from), toString(flip.to), flip.step + 1);
        if (!flip.note.empty()) detail += " " + flip.note;
        run.flips.add({Marker::Kind::Switch, place, flip.id + " " + toString(flip.to), std::move(detail), 0, flip.at});
    }
    if (run.sketch) {  // no figure of a few steps is one of all
        run.figures.steps = static_cast<std::int64_t>(run.step.back() - run.step.front()) + 1;
        return m_run;
    }
    run.figures.msMedian = median(m_facts.steadyMs);
    if (const double perToken = median(m_facts.steadyMsPerToken); perToken > 0) run.figures.tokensPerSecond = 1000 / perToken;
    run.figures.lossLast = mean(m_lastLosses);
    run.figures.peakBytes = m_facts.peakBytes;
    run.figures.flips = m_facts.flips;
    m_facts.validationLoss = run.figures.validationLoss;
    return m_run;
}

double lossUpTo(const OverlaidRun& run, XAxis axis, double place) {
    if (!std::isfinite(place) || !run.knows(axis)) return kUnknown;
    const auto& places = run.places(axis);
    const auto end = static_cast<std::size_t>(std::ranges::upper_bound(places, place) - places.begin());
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t row = end; row > 0 && count < kLossSteps; --row) {
        const double low = run.loss.low[row - 1], high = run.loss.highest()[row - 1];
        if (!std::isfinite(low)) continue;
        sum += (low + high) / 2;
        ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : kUnknown;
}

}  // namespace stepscope
