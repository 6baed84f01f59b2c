#include "core/analysis/flips/ShamFlips.h"

#include <algorithm>

#include "core/analysis/RunHistory.h"
#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostStretches = 64;  // that are looked through: a run can be flipped at every step

double medianOf(std::span<const StepSample> steps, double StepSample::*value) {
    std::vector<double> known;
    known.reserve(steps.size());
    for (const auto& step : steps)
        if (std::isfinite(step.*value)) known.push_back(step.*value);
    return median(known);
}

ShamFlip shamOf(std::span<const StepSample> before, std::span<const StepSample> after) {
    const auto change = [&](double StepSample::*value, bool isCount) {
        return changeBetween(medianOf(before, value), medianOf(after, value), isCount);
    };
    return {change(&StepSample::ms, false), change(&StepSample::tokensPerSecond, false), change(&StepSample::memory, true),
            change(&StepSample::pageFaults, true)};
}

void append(std::vector<ShamFlip>& all, const std::vector<StepSample>& stretch, bool backwards, std::size_t most) {
    const auto more = shamFlips(stretch, backwards, most - all.size());
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Stretches::Stretches(const RunHistory& history) : begins{0} {
    for (const FlippedSwitch& one : history.flips())
        if (one.flip.from != one.flip.to) begins.push_back(one.row);
}

double changeBetween(double before, double after, bool isCount) {
    const double more = isCount ? 1 : 0;
    return std::log((after + more) / (before + more));
}

std::vector<ShamFlip> shamFlips(std::span<const StepSample> steps, bool backwards, std::size_t most) {
    std::vector<ShamFlip> all;
    for (; steps.size() >= ShamTest::kPlace && all.size() < most; steps = steps.subspan(ShamTest::kPlace)) {
        const auto near = steps.first(ShamTest::kSteps), far = steps.subspan(ShamTest::kSteps + ShamTest::kBetween, ShamTest::kSteps);
        all.push_back(backwards ? shamOf(far, near) : shamOf(near, far));
    }
    return all;
}

double flipChance(double change, std::span<const double> shams) {
    std::size_t known = 0, below = 0, above = 0;
    for (const double sham : shams) {
        if (!std::isfinite(sham)) continue;
        ++known;
        below += sham <= change ? 1 : 0;
        above += sham >= change ? 1 : 0;
    }
    if (known < ShamTest::kFewest || !std::isfinite(change)) return kUnknown;
    return std::min(1.0, 2 * static_cast<double>(1 + std::min(below, above)) / static_cast<double>(known + 1));
}

std::vector<ShamFlip> shamsAround(const RunHistory& history, std::size_t end, std::size_t begin) {
    return shamsAround(history, Stretches(history), end, begin);
}

std::vector<ShamFlip> shamsAround(const RunHistory& history, const Stretches& stretched, std::size_t end, std::size_t begin) {
    constexpr std::size_t kMostRows = 2 * ShamTest::kMost * ShamTest::kPlace;
    const std::vector<std::size_t>& begins = stretched.begins;
    std::vector<ShamFlip> all;
    std::vector<StepSample> stretch;
    std::size_t looked = 0, stretches = 0;

    auto next = std::ranges::lower_bound(begins, end);  // behind the stretch that holds end - 1
    for (std::size_t to = end; next != begins.begin() && all.size() < ShamTest::kMost && stretches < kMostStretches; ++stretches) {
        const std::size_t from = *--next + ShamTest::kBetween;
        stretch.clear();
        for (std::size_t row = to; row > from && stretch.size() < (ShamTest::kMost - all.size()) * ShamTest::kPlace && looked < kMostRows;
             --row, ++looked)
            if (tellsOfFlips(history, row - 1)) stretch.push_back(sampleOf(history, row - 1));
        append(all, stretch, /*backwards=*/true, ShamTest::kMost);
        to = *next;
    }

    looked = stretches = 0;
    next = std::ranges::upper_bound(begins, begin);
    for (std::size_t from = begin; from < history.rows() && all.size() < ShamTest::kFewest && stretches < kMostStretches; ++stretches) {
        const std::size_t to = next != begins.end() ? *next : history.rows();
        stretch.clear();
        for (std::size_t row = from; row < to && stretch.size() < (ShamTest::kFewest - all.size()) * ShamTest::kPlace && looked < kMostRows;
             ++row, ++looked)
            if (tellsOfFlips(history, row)) stretch.push_back(sampleOf(history, row));
        append(all, stretch, /*backwards=*/false, ShamTest::kFewest);
        if (next == begins.end()) break;
        from = *next + ShamTest::kBetween;
        next = std::ranges::upper_bound(next, begins.end(), *next);
    }
    return all;
}

}  // namespace stepscope
