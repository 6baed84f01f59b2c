#include "core/analysis/flips/FlipEffect.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/RunHistory.h"
#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

constexpr double kSampleSeconds = 0.5;  // a device sample is of the time since the one before
constexpr double kSharesDiffer = 5;     // per cent of the processors' time: /proc/stat counts hundredths of a second, of half a second
constexpr double kDriftShare = 0.5;     // of the effect: what moves that much by itself may as well have moved the rest

Spread spreadOf(std::span<const StepSample> steps, double StepSample::*value) {
    std::vector<double> known;
    for (const auto& step : steps)
        if (std::isfinite(step.*value)) known.push_back(step.*value);
    return {quantile(known, 0.25), median(known), quantile(known, 0.75)};
}

// Exact but for rounding: time and rate are of one step.
double tokensOfStep(std::span<const StepSample> steps) {
    std::vector<double> known;
    for (const auto& step : steps)
        if (const double tokens = step.ms * step.tokensPerSecond / 1000; std::isfinite(tokens)) known.push_back(tokens);
    return median(known);
}

Change changeOf(std::span<const StepSample> before, std::span<const StepSample> after, double StepSample::*value) {
    return {spreadOf(before, value), spreadOf(after, value)};
}

MachineShares sharesDuring(const TimeSpan& time, std::span<const MachineSample> samples) {
    std::vector<double> others, steal;
    for (const auto& sample : samples) {
        if (sample.seconds <= time.from || sample.seconds - kSampleSeconds >= time.to) continue;
        if (std::isfinite(sample.othersPct)) others.push_back(sample.othersPct);
        if (std::isfinite(sample.stealPct)) steal.push_back(sample.stealPct);
    }
    return {mean(others), mean(steal)};
}

std::string shareChange(const char* who, double before, double after) {
    if (!(std::abs(after - before) >= kSharesDiffer)) return {};  // unknown ones are not
    return fmt::format("{} took {:.0f} % of the processors before and {:.0f} % after", who, before, after);
}

// Steps of the same settings that differ by themselves, and by so much that they could explain the effect.
std::string driftOf(const char* where, std::span<const StepSample> sooner, std::span<const StepSample> later, double effect) {
    if (std::min(sooner.size(), later.size()) < FlipEffect::kFewest) return {};
    const Change drift = changeOf(sooner, later, &StepSample::ms);
    const double moved = drift.ratio() - 1;
    if (!drift.apart() || std::abs(moved) < kDriftShare * std::abs(effect - 1)) return {};
    return fmt::format("the steps {} the flip had moved by {:+.0f} % by themselves", where, moved * 100);
}

bool isSteady(const Change& change) {
    return change.before.low == change.before.high && change.after.low == change.after.high;
}

std::string machineChangeOf(const FlipSides& sides, const FlipEffect& effect) {
    for (const std::string& found : {shareChange("other processes", effect.machineBefore.othersPct, effect.machineAfter.othersPct),
                                     shareChange("the host of this virtual machine", effect.machineBefore.stealPct, effect.machineAfter.stealPct)})
        if (!found.empty()) return found;
    if (!effect.measured() || !effect.told().apart()) return {};
    const std::span<const StepSample> before(sides.before), after(sides.after);
    const auto halves = [](std::span<const StepSample> all) { return std::pair(all.first(all.size() / 2), all.subspan(all.size() / 2)); };
    const auto [nearBefore, farBefore] = halves(before);
    const auto [nearAfter, farAfter] = halves(after);
    const double ratio = effect.told().ratio();  // where a step trains more tokens its time is longer by that, which hides no drift
    for (const std::string& found : {driftOf("before", sides.earlier, before, ratio), driftOf("before", farBefore, nearBefore, ratio),
                                     driftOf("after", nearAfter, farAfter, ratio)})
        if (!found.empty()) return found;
    return {};
}

}  // namespace

TimeSpan timeOf(std::span<const StepSample> steps) {
    TimeSpan time{1, 0};
    for (const auto& step : steps) {
        if (!std::isfinite(step.seconds)) continue;
        const double begin = step.seconds - (std::isfinite(step.ms) ? step.ms / 1000 : 0);
        time = time.from > time.to ? TimeSpan{begin, step.seconds} : TimeSpan{std::min(time.from, begin), std::max(time.to, step.seconds)};
    }
    return time;
}

FlipEffect measureFlip(const FlipSides& sides) {
    FlipEffect effect;
    effect.stepsBefore = sides.before.size();
    effect.stepsAfter = sides.after.size();
    effect.shams = sides.shams.size();
    const auto change = [&](double StepSample::*value) { return changeOf(sides.before, sides.after, value); };
    const auto tested = [&](double StepSample::*value, double ShamFlip::*sham, bool isCount) {
        Change found = change(value);
        if (!effect.complete()) return found;
        std::vector<double> shams;
        shams.reserve(sides.shams.size());
        for (const ShamFlip& one : sides.shams) shams.push_back(one.*sham);
        found.chance = flipChance(changeBetween(found.before.median, found.after.median, isCount), shams);
        return found;
    };
    effect.ms = tested(&StepSample::ms, &ShamFlip::ms, false);
    effect.tokensPerSecond = tested(&StepSample::tokensPerSecond, &ShamFlip::tokensPerSecond, false);
    effect.tokensBefore = tokensOfStep(sides.before);
    effect.tokensAfter = tokensOfStep(sides.after);
    effect.memory = tested(&StepSample::memory, &ShamFlip::memory, true);
    effect.pageFaults = tested(&StepSample::pageFaults, &ShamFlip::pageFaults, true);
    effect.operations = change(&StepSample::operations);
    // What a Program holds and runs is its own, and does not vary; what does has to be tested.
    for (Change* counted : {&effect.memory, &effect.operations}) counted->exact = effect.complete() && isSteady(*counted);
    effect.machineBefore = sharesDuring(timeOf(sides.before), sides.machine);
    effect.machineAfter = sharesDuring(timeOf(sides.after), sides.machine);
    effect.machineChange = machineChangeOf(sides, effect);
    return effect;
}

namespace {

// stretches: null where they are to be found only if they are needed.
FlipEffect effectIn(const RunHistory& history, const Stretches* stretches, std::size_t from, std::size_t flip, std::size_t after, std::size_t to) {
    constexpr double kBeyond = 1;  // seconds: a sample is of the time before it
    FlipSides sides;
    std::size_t begin = flip, end = std::min(after, to);
    for (std::size_t row = flip; row > from && sides.earlier.size() < FlipEffect::kSteps; --row) {
        if (!tellsOfFlips(history, row - 1)) continue;
        if (sides.before.size() < FlipEffect::kSteps) begin = row - 1;
        (sides.before.size() < FlipEffect::kSteps ? sides.before : sides.earlier).push_back(sampleOf(history, row - 1));
    }
    for (; end < to && sides.after.size() < FlipEffect::kSteps; ++end)
        if (tellsOfFlips(history, end)) sides.after.push_back(sampleOf(history, end));
    sides.machine = machineSamples(history, timeOf(sides.before).from, timeOf(sides.after).to + kBeyond);
    const bool complete = sides.before.size() == FlipEffect::kSteps && sides.after.size() == FlipEffect::kSteps;
    if (complete) sides.shams = stretches != nullptr ? shamsAround(history, *stretches, begin, end) : shamsAround(history, begin, end);
    FlipEffect effect = measureFlip(sides);
    effect.machineSeen = sides.machine.empty() || sides.machine.back().seconds >= timeOf(sides.after).to;
    return effect;
}

}  // namespace

FlipEffect measureFlip(const RunHistory& history, std::size_t from, std::size_t flip, std::size_t after, std::size_t to) {
    return effectIn(history, nullptr, from, flip, after, to);
}

FlipEffect measureFlip(const RunHistory& history, const Stretches& stretches, std::size_t from, std::size_t flip, std::size_t after, std::size_t to) {
    return effectIn(history, &stretches, from, flip, after, to);
}

// Where a step trains as many tokens, its time and its throughput are one change in two forms.
bool FlipEffect::ofThroughput() const {
    constexpr double kRounding = 1e-3;  // columns of a run hold fewer digits
    return std::abs(tokensAfter / tokensBefore - 1) > kRounding;
}

std::string FlipEffect::doubt(const Change& change) const {
    if (stepsBefore < kSteps) return fmt::format("only {} of {} steps before it", stepsBefore, kSteps);
    if (stepsAfter < kSteps) return fmt::format("only {} of {} steps after it", stepsAfter, kSteps);
    if (shams < ShamTest::kFewest) return fmt::format("{} of {} comparisons without a flip so far", shams, ShamTest::kFewest);
    if (!std::isfinite(change.chance)) return "it is not known of enough steps";
    // chance = 2 (as far off + 1) / (shams + 1)
    const auto asFar = std::lround(change.chance * static_cast<double>(shams + 1) / 2) - 1;
    return fmt::format("{} of {} comparisons without a flip differ as much that way", asFar, shams);
}

}  // namespace stepscope
